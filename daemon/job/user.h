/* SPDX-License-Identifier: BSD-3-Clause */
/* A user of the system who has connections or jobs: what counts against his quota. */
#ifndef DAEMON_USER_H
#define DAEMON_USER_H

#include <stdint.h>
#include <sys/types.h>

#include "link.h"

struct user {
    struct link link; /* in the service's users */
    uid_t uid;
    uint32_t holders; /* connections and jobs */
    uint32_t clients; /* connections now */
    uint32_t jobs;    /* under way */
    uint64_t buffer_bytes;
    uint64_t jobs_done, bytes_moved; /* since he came */
};

/** Finds or makes the entry of a user; user_drop() it. Null where memory is short. */
struct user *user_hold(struct link *users, uid_t uid);
void user_drop(struct user *user);

#endif /* DAEMON_USER_H */
