/* SPDX-License-Identifier: BSD-3-Clause */
#include "after.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "dispatch.h"
#include "history.h"
#include "seam.h"
#include "state.h"
#include "task.h"

struct dependency {
    struct watch watch; /* first */
    struct task *dependant;
    uint32_t index; /* in its "after" */
};

static uid_t uid_of(const struct entry *entry)
{
    if (entry->ended)
        return ((const struct record *)(const void *)entry)->uid;
    return ((const struct task *)(const void *)entry)->flow->user->uid;
}

struct entry *after_find(const struct client *client, const struct job_ref *ref,
                         const char *pointer, struct fault *fault)
{
    const struct registry *registry = &client->service->registry;
    const uid_t uid = client->flow->user->uid;
    struct entry *entry;

    if (ref->name) {
        entry = registry_find_name(registry, client->flow->number, ref->name);
        if (!entry)
            fault_set(fault, FAULT_NOT_FOUND, pointer,
                      "%s: this connection has no job \"%s\", or not any more", pointer + 1,
                      ref->name);
        return entry;
    }
    entry = registry_find(registry, ref->number);
    if (entry && (uid == 0 || uid_of(entry) == uid))
        return entry;
    fault_set(fault, FAULT_NOT_FOUND, pointer, "%s: there is no job %" PRIu64 ", or not any more",
              pointer + 1, ref->number);
    return NULL;
}

/* "job 7 (load) failed": into text. */
static void describe(const struct entry *entry, enum job_state state, char *text, size_t size)
{
    const char *how = state == JOB_STATE_CANCELLED ? "was cancelled" : "failed";

    if (entry->name)
        snprintf(text, size, "job %" PRIu64 " (%s) %s", entry->number, entry->name, how);
    else
        snprintf(text, size, "job %" PRIu64 " %s", entry->number, how);
}

static int complain(struct fault *fault, uint32_t index, const char *cause)
{
    char pointer[32];

    snprintf(pointer, sizeof pointer, "/after/%" PRIu32, index);
    return fault_set(fault, FAULT_PREDECESSOR_FAILED, pointer, "after[%" PRIu32 "]: %s", index,
                     cause);
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
    const struct record *record = (const struct record *)(const void *)entry;
    struct task *before = (struct task *)(void *)(uintptr_t)entry;
    struct dependency *dependency;
    char cause[TASK_CAUSE_MAX];

    if (entry->ended) {
        if (record->state == JOB_STATE_DONE)
            return 0;
        describe(entry, record->state, cause, sizeof cause);
        return complain(fault, index, cause);
    }
    dependency = &task->dependencies[task->dependency_count++];
    dependency->watch.ended = on_ended;
    dependency->dependant = task;
    dependency->index = index;
    link_append(&before->watches, &dependency->watch.link);
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
        const struct entry *entry;
        char pointer[32];

        snprintf(pointer, sizeof pointer, "/after/%" PRIu32, i);
        entry = after_find(client, &refs->refs[i], pointer, fault);
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
    while (!link_empty(&service->failing)) {
        struct task *task = LINK_OWNER(service->failing.next, struct task, place);
        struct fault fault;

        complain(&fault, task->cause_index, task->cause);
        task_abort(task, &fault);
    }
}
