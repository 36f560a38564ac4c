/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers that a connection waits for besides those of its jobs: job.wait and daemon.drain. They
 * keep it from being finished, and end with it. Whoever makes one embeds it.
 */
#ifndef DAEMON_PENDING_H
#define DAEMON_PENDING_H

#include "daemon/base/link.h"
#include "daemon/net/answer.h"

struct call;

struct pending {
    struct link link; /* in the client's pending */
    struct answer answer;
    uint64_t expected;                     /* bytes of a large answer: backlog.h */
    void (*drop)(struct pending *pending); /* frees it, out of the link, unanswered */
};

/** Has the client room for another one? Returns 0, or -1 with the request's fault filled. */
int pending_check(struct call *call);

/** It has the duty to answer from now on. */
const struct ended *pending_add(struct pending *pending, struct call *call,
                                void (*drop)(struct pending *pending));

/** It has answered: its client does not wait for it any more. */
void pending_remove(struct pending *pending);

/** The client has left, or is told no more. */
void pending_drop_all(struct link *pendings);

#endif /* DAEMON_PENDING_H */
