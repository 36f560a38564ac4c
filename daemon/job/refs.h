/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the job that a request names, among tasks and records, and describes it. */
#ifndef DAEMON_REFS_H
#define DAEMON_REFS_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/job/registry.h"
#include "proto/json/fault.h"
#include "proto/wire/job_info.h"
#include "proto/wire/job_ref.h"

struct ending;
struct record;
struct session;
struct task;
struct user;

/* The place of a reference in the params. */
struct ref_place {
    const char *member;
    int index; /* index in the member, if it is an array; -1: the member is not an array */
};

/* The place as texts "/after/3" and "after[3]", for faults. */
struct ref_words {
    char pointer[32], name[32];
};
void ref_place_words(const struct ref_place *place, struct ref_words *words);

/**
 * Returns the job that `ref` names. Returns NULL with *fault filled if there is no such job, or the
 * session's user may not see it.
 */
struct entry *refs_find(const struct session *session, const struct job_ref *ref,
                        const struct ref_place *place, struct fault *fault);

/** Returns whether a user may see a job: root sees all jobs, other users their own. */
bool refs_visible(const struct user *viewer, const struct entry *entry);

/** Return the task or the record that embeds the entry; the other function returns NULL. */
struct task *entry_task(const struct entry *entry);
const struct record *entry_record(const struct entry *entry);

enum job_state entry_state(const struct entry *entry);
/** Fills *info, which borrows the error. */
void entry_info(const struct entry *entry, struct job_info *info);

/**
 * Fills *info with the state of a task at the time `now` (uv_hrtime()), or with its end if `ending`
 * is not null. Asks libmli for the progress of the transfer only if `ask` is true.
 */
void task_info(const struct task *task, const struct ending *ending, uint64_t now, bool ask,
               struct job_info *info);

#endif /* DAEMON_REFS_H */
