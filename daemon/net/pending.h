/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pending replies of a connection, other than those of its jobs: to job.wait, job.list and
 * daemon.drain. Pending replies keep the connection open, and are dropped when the connection is
 * closed. The structure of the waiting request embeds a struct pending.
 */
#ifndef DAEMON_PENDING_H
#define DAEMON_PENDING_H

#include "daemon/base/link.h"
#include "daemon/net/answer.h"

struct call;

struct pending {
    struct link link; /* in the list client->pending */
    struct answer answer;
    uint64_t expected;                     /* bytes of a large reply (backlog.h) */
    void (*drop)(struct pending *pending); /* frees the request, which has left the list */
};

/**
 * Checks that the client may have one more pending reply. Returns 0, or -1 with the request's fault
 * filled.
 */
int pending_check(struct call *call);

/** Adds a pending reply, which takes over the duty to answer. */
const struct ended *pending_add(struct pending *pending, struct call *call,
                                void (*drop)(struct pending *pending));

/** Removes a pending reply that was sent. */
void pending_remove(struct pending *pending);

/** Drops all pending replies of a client to which no more replies are sent. */
void pending_drop_all(struct link *pendings);

#endif /* DAEMON_PENDING_H */
