/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of one connection, as the scheduler and the books see them. A flow outlives its
 * connection where detached jobs do.
 */
#ifndef DAEMON_FLOW_H
#define DAEMON_FLOW_H

#include <stdint.h>
#include <sys/types.h>

#include "daemon/job/lane.h"
#include "daemon/job/user.h"

struct flow {
    uint64_t number; /* of the connection */
    pid_t pid;       /* by SO_PEERCRED */
    struct user *user;
    uint32_t holders;        /* the connection and its jobs */
    uint32_t jobs;           /* under way */
    struct link tasks;       /* those that have not ended, in the order of their numbers */
    struct link subscribers; /* news.h */
    struct lanes lanes;
    uint64_t jobs_done, bytes_moved;
    struct buffer_account account;
    uint32_t dropped; /* dropped.c: while it counts */
};

/** Null where memory is short. */
struct flow *flow_create(struct users *users, uint64_t number, pid_t pid, uid_t uid);
void flow_hold(struct flow *flow);
void flow_drop(struct flow *flow);

#endif /* DAEMON_FLOW_H */
