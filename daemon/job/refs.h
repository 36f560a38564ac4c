/* SPDX-License-Identifier: BSD-3-Clause */
/* The job that a request refers to, under way or remembered, and what is known of it. */
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

/* Where in the params a reference stands. */
struct ref_place {
    const char *member;
    int index; /* in the array that the member is; -1: it is none */
};

/** "/after/3" and "after[3]", for faults. */
struct ref_words {
    char pointer[32], name[32];
};
void ref_place_words(const struct ref_place *place, struct ref_words *words);

/**
 * Null, with *fault, where there is no such job that the client's user may know of: none of another
 * user's, but for root.
 */
struct entry *refs_find(const struct session *session, const struct job_ref *ref,
                        const struct ref_place *place, struct fault *fault);

/** May this client's user know of it? */
bool refs_visible(const struct user *viewer, const struct entry *entry);

/* Exactly one of these is what an entry is in; the other gives null. */
struct task *entry_task(const struct entry *entry);
const struct record *entry_record(const struct entry *entry);

enum job_state entry_state(const struct entry *entry);
/** All that is known. *info borrows the error. */
void entry_info(const struct entry *entry, struct job_info *info);

/**
 * The same of a task, as it is at `now` (uv_hrtime()); and with `ending`, as it has ended. How far
 * its transfer is, is asked of the library only where `ask`.
 */
void task_info(const struct task *task, const struct ending *ending, uint64_t now, bool ask,
               struct job_info *info);

#endif /* DAEMON_REFS_H */
