/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds clients until there is room for their next request or for its reply. */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

#include <stdint.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"

struct client;
struct net;

enum hold {
    HOLD_NONE,
    HOLD_JOBS,       /* too many jobs are under way */
    HOLD_REPLIES,    /* the reply of one more job may not fit beside those unread and expected */
    HOLD_UNREAD,     /* the user has too many unread bytes */
    HOLD_DESCRIPTORS /* too many replies with a descriptor are unread */
};

/* The clients that are held. */
struct held {
    struct link clients; /* the next one to look at is first */
    uint32_t count;
    uint32_t left;      /* clients from the first on to look at: something has changed since */
    struct chore again; /* looks at more of them in the next round */
};

void held_init(struct held *held);
/** Has all held clients looked at: a job is gone, replies were sent, or limits have changed. */
void held_look_again(struct held *held);

/** The client's next line waits: it is handled when that reason is gone. */
void client_hold(struct client *client, enum hold why);
/** Takes the client out of the held ones; does nothing if it is not held. */
void client_unhold(struct client *client);
/** Handles the lines of held clients whose reason is gone. Call it before the loop sleeps. */
void client_let_in(struct net *net);

#endif /* DAEMON_HOLD_H */
