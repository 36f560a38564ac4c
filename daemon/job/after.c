/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/after.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/base/seam.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/history.h"
#include "daemon/job/jobs.h"
#include "daemon/job/refs.h"
#include "daemon/job/task.h"

enum { SETTLED_MAX = 16 }; /* dependencies settled by one call; then the caller reads the clock */

struct dependency {
    struct link link; /* in the list of dependents of the predecessor */
    struct task *dependant;
    uint32_t index; /* index in the array "after" of the dependant */
};

/* The jobs that wait for one job. The list outlives the job: after_settle() empties it. */
struct dependents {
    struct link link;           /* in jobs->settling, once the predecessor has ended */
    struct link dependencies;   /* struct dependency, in the order of arrival */
    char cause[TASK_CAUSE_MAX]; /* how the predecessor failed; empty: the predecessor is done */
};

/* Writes a sentence like "job 7 (load) failed". */
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

/* Returns the dependents of a task; creates the list if needed. Returns NULL if out of memory. */
static struct dependents *dependents_of(struct task *task)
{
    if (!task->dependents) {
        task->dependents = seam.calloc(1, sizeof *task->dependents);
        if (!task->dependents)
            return NULL;
        link_init(&task->dependents->link);
        link_init(&task->dependents->dependencies);
    }
    return task->dependents;
}

static int depend(struct task *task, const struct entry *entry, uint32_t index, struct fault *fault)
{
    const enum job_state state = entry_state(entry);
    struct dependents *dependents;
    struct dependency *dependency;
    char cause[TASK_CAUSE_MAX];

    if (entry->ended) {
        if (state == JOB_STATE_DONE)
            return 0;
        describe(entry, state, cause, sizeof cause);
        return complain(fault, index, cause);
    }
    dependents = dependents_of(entry_task(entry));
    if (!dependents)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    dependency = &task->dependencies[task->dependency_count++];
    dependency->dependant = task;
    dependency->index = index;
    link_append(&dependents->dependencies, &dependency->link);
    task->waits++;
    return 0;
}

int after_init(struct task *task, const struct session *session, const struct job_refs *refs,
               struct fault *fault)
{
    if (refs->count == 0)
        return 0;
    task->dependencies = seam.calloc(refs->count, sizeof *task->dependencies);
    if (!task->dependencies)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    for (uint32_t i = 0; i < refs->count; i++) {
        const struct ref_place place = {"after", (int)i};
        const struct entry *entry = refs_find(session, &refs->refs[i], &place, fault);

        if (!entry || depend(task, entry, i, fault) < 0)
            return -1;
    }
    return 0;
}

void after_forget(struct task *task)
{
    for (uint32_t i = 0; i < task->dependency_count; i++)
        link_remove(&task->dependencies[i].link);
    free(task->dependencies);
    task->dependencies = NULL;
    task->dependency_count = task->waits = 0;
}

void after_ended(struct task *task, enum job_state state)
{
    struct dependents *dependents = task->dependents;

    if (!dependents)
        return;
    task->dependents = NULL;
    if (state != JOB_STATE_DONE)
        describe(&task->entry, state, dependents->cause, sizeof dependents->cause);
    link_append(&task->jobs->settling, &dependents->link);
}

/* Ends the dependant if the predecessor failed, else queues it if this predecessor was its last. */
static void settle(struct dependency *dependency, const char *cause)
{
    struct task *task = dependency->dependant;
    struct fault fault;

    link_remove(&dependency->link);
    if (cause[0] != '\0') {
        complain(&fault, dependency->index, cause);
        task_abort(task, &fault);
    } else if (--task->waits == 0) {
        dispatch_queue(task);
    }
}

void after_settle(struct jobs *jobs)
{
    if (link_empty(&jobs->settling))
        return;
    for (int i = 0; i < SETTLED_MAX && !link_empty(&jobs->settling); i++) {
        struct dependents *first = LINK_OWNER(jobs->settling.next, struct dependents, link);
        /* The analyser does not see that the list is unlinked before it is freed. */
        struct link *next = first->dependencies.next; /* NOLINT(clang-analyzer-unix.Malloc) */

        if (next != &first->dependencies) {
            settle(LINK_OWNER(next, struct dependency, link), first->cause);
        } else {
            link_remove(&first->link);
            free(first);
        }
    }
    jobs->clock = uv_hrtime();
}
