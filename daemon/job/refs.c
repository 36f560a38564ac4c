/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/refs.h"

#include <inttypes.h>
#include <stdio.h>

#include "daemon/job/history.h"
#include "daemon/job/jobs.h"
#include "daemon/job/task.h"

struct task *entry_task(const struct entry *entry)
{
    /* The entry is the first member of the task. */
    return entry->ended ? NULL : (struct task *)(void *)(uintptr_t)entry;
}

const struct record *entry_record(const struct entry *entry)
{
    return entry->ended ? (const struct record *)(const void *)entry : NULL;
}

bool refs_visible(const struct user *viewer, const struct entry *entry)
{
    return viewer->uid == 0 || entry->user == viewer;
}

void ref_place_words(const struct ref_place *place, struct ref_words *words)
{
    if (place->index < 0) {
        snprintf(words->pointer, sizeof words->pointer, "/%s", place->member);
        snprintf(words->name, sizeof words->name, "%s", place->member);
    } else {
        snprintf(words->pointer, sizeof words->pointer, "/%s/%d", place->member, place->index);
        snprintf(words->name, sizeof words->name, "%s[%d]", place->member, place->index);
    }
}

struct entry *refs_find(const struct session *session, const struct job_ref *ref,
                        const struct ref_place *place, struct fault *fault)
{
    const struct registry *registry = &session->jobs->registry;
    struct ref_words words;
    struct entry *entry;

    if (ref->name)
        entry = registry_find_name(registry, session->flow->number, ref->name);
    else
        entry = registry_find(registry, ref->number);
    if (entry && refs_visible(session->flow->user, entry))
        return entry;
    ref_place_words(place, &words);
    if (ref->name)
        fault_set(fault, FAULT_NOT_FOUND, words.pointer,
                  "%s: this connection has no job \"%s\"; it may have been forgotten", words.name,
                  ref->name);
    else
        fault_set(fault, FAULT_NOT_FOUND, words.pointer,
                  "%s: there is no job %" PRIu64 "; it may have been forgotten", words.name,
                  ref->number);
    return NULL;
}

enum job_state entry_state(const struct entry *entry)
{
    return entry->ended ? entry_record(entry)->state : entry_task(entry)->state;
}

void entry_info(const struct entry *entry, struct job_info *info)
{
    if (entry->ended)
        record_info(entry_record(entry), info);
    else
        task_info(entry_task(entry), NULL, uv_hrtime(), true, info);
}

void task_info(const struct task *task, const struct ending *ending, uint64_t now, bool ask,
               struct job_info *info)
{
    *info = (struct job_info){
        .job = task->entry.number,
        .state = ending ? ending->state : task->state,
        .client = task->flow->number,
        .uid = task->flow->user->uid,
        .priority = task->priority,
        .channels = task_channels(task),
        .first_channel = task->first_channel,
        .bytes = task->work->operands.bytes,
        .detached = task->detached,
        .ns_queued = task_ns_queued(task, now),
        .ns_moving = task_ns_moving(task, now),
    };
    if (task->entry.name)
        snprintf(info->name, sizeof info->name, "%s", task->entry.name);
    if (ending) {
        info->bytes_done = ending->bytes_done;
        info->error = ending->fault;
    } else if (ask) {
        info->bytes_done = task_bytes_done(task);
    }
}
