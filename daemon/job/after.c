/* SPDX-License-Identifier: BSD-3-Clause */
#include "after.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "dispatch.h"
#include "history.h"
#include "refs.h"
#include "seam.h"
#include "state.h"
#include "task.h"

enum { SETTLED_MAX = 16 }; /* tasks that one call ends: the caller looks at the clock */

struct dependency {
    struct watch watch; /* first */
    struct task *dependant;
    uint32_t index; /* in its "after" */
};

/* "job 7 (load) failed": into text. */
static void describe(const struct entry *entry, enum job_state state, char *text, size_t size)
{
    const struct record *record = entry_record(entry);
    const char *how = state == JOB_STATE_CANCELLED ? "was cancelled"
                      : record && record->refused  ? "was refused"
                                                   : "failed";

    if (entry->name)
        snprintf(text, size, "job %" PRIu64 " (%s) %s", entry->number, entry->name, how);
    else
        snprintf(text, size, "job %" PRIu64 " %s", entry->number, how);
}

static int complain(struct fault *fault, uint32_t index, const char *cause)
{
    struct ref_words words;

    ref_place_words(&(struct ref_place){"after", (int)index}, &words);
    return fault_set(fault, FAULT_PREDECESSOR_FAILED, words.pointer, "%s: %s", words.name, cause);
}

/* The last one it waited for lets it go on; one that failed ends it, see after_settle(). */
static void on_ended(struct watch *watch, const struct ending *ending)
{
    struct dependency *dependency = (struct dependency *)(void *)watch /* its first member */;
    struct task *task = dependency->dependant;
    struct service *service = task->service;

    task->waits--;
    if (ending->state != JOB_STATE_DONE && task->cause[0] == '\0') {
        task->cause_index = dependency->index;
        describe(&ending->task->entry, ending->state, task->cause, sizeof task->cause);
        link_append(&service->failing, &task->place);
    } else if (task->waits == 0 && task->cause[0] == '\0') {
        dispatch_queue(task);
    }
}

static int depend(struct task *task, const struct entry *entry, uint32_t index, struct fault *fault)
{
    const enum job_state state = entry_state(entry);
    struct dependency *dependency;
    char cause[TASK_CAUSE_MAX];

    if (entry->ended) {
        if (state == JOB_STATE_DONE)
            return 0;
        describe(entry, state, cause, sizeof cause);
        return complain(fault, index, cause);
    }
    dependency = &task->dependencies[task->dependency_count++];
    dependency->watch.ended = on_ended;
    dependency->dependant = task;
    dependency->index = index;
    link_append(&entry_task(entry)->watches, &dependency->watch.link);
    task->waits++;
    return 0;
}

int after_init(struct task *task, const struct client *client, const struct job_refs *refs,
               struct fault *fault)
{
    if (refs->count == 0)
        return 0;
    task->dependencies = seam.calloc(refs->count, sizeof *task->dependencies);
    if (!task->dependencies)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    for (uint32_t i = 0; i < refs->count; i++) {
        const struct ref_place place = {"after", (int)i};
        const struct entry *entry = refs_find(client, &refs->refs[i], &place, fault);

        if (!entry || depend(task, entry, i, fault) < 0)
            return -1;
    }
    return 0;
}

void after_forget(struct task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++)
        link_remove(&task->dependencies[i].watch.link);
    free(task->dependencies);
    task->dependencies = NULL;
    task->dependency_count = task->waits = 0;
}

void after_settle(struct service *service)
{
    for (int i = 0; i < SETTLED_MAX && !link_empty(&service->failing); i++) {
        struct task *task = LINK_OWNER(service->failing.next, struct task, place);
        struct fault fault;

        complain(&fault, task->cause_index, task->cause);
        task_abort(task, &fault);
        service->clock = uv_hrtime();
    }
}
