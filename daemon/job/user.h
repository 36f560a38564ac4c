/* SPDX-License-Identifier: BSD-3-Clause */
/* A user of the system who has connections or jobs: what counts against his quota. */
#ifndef DAEMON_USER_H
#define DAEMON_USER_H

#include <stdint.h>
#include <sys/types.h>

#include "link.h"

struct user {
    struct link link; /* in `users` */
    struct link *users;
    uid_t uid;
    uint32_t holders; /* connections and jobs */
    uint32_t clients; /* connections now */
    uint32_t jobs;    /* under way */
    uint64_t buffer_bytes;
    uint64_t jobs_done, bytes_moved; /* since he came first */
};

/* Users without a connection or job that are kept, for their sums: the latest. */
enum { USERS_KEPT = 64 };

/** Finds or makes the entry of a user; user_drop() it. Null where memory is short. */
struct user *user_hold(struct link *users, uid_t uid);
void user_drop(struct user *user);
/** Frees those that are kept; nobody holds any more. */
void users_finish(struct link *users);

#endif /* DAEMON_USER_H */
