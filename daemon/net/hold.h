/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds clients back until there is room for their next request and its reply. */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"

struct client;
struct net;

enum hold {
    HOLD_NONE,
    HOLD_JOBS,       /* the client or the service has too many jobs */
    HOLD_REPLIES,    /* the reply of one more job may exceed the limit, together with unread and
                        expected replies */
    HOLD_UNREAD,     /* the client's user has too many unread bytes */
    HOLD_DESCRIPTORS /* too many replies with a descriptor are unread */
};

/* The held clients. The system does not report when a peer reads its descriptors: while clients are
 * held for them, or the system takes no more of them, a timer looks. */
struct held {
    struct link clients; /* the first one is checked next */
    uint32_t count;
    uint32_t left; /* number of clients, from the first on, that must be checked after a change */
    struct chore again;  /* makes the loop run another round, which checks more clients */
    struct link refused; /* clients with a descriptor that the system refused */
    uint32_t waiting;    /* clients in `refused`, or held for descriptors */
    uv_timer_t timer;    /* runs while `waiting` is not 0 */
};

/** Initialises the list without clients. */
void held_init(struct held *held, uv_loop_t *loop);
/** Begins to close the timer. */
void held_close(struct held *held);
/**
 * Makes held_check() check all held clients again: a job is gone, replies were sent, or limits have
 * changed.
 */
void held_check_again(struct held *held);

/** Holds the client: its next line is handled when the reason to hold it no longer exists. */
void client_hold(struct client *client, enum hold why);
/** Stops holding the client; does nothing if it is not held. */
void client_unhold(struct client *client);
/** Makes the timer flush the client, because the system did not take a descriptor. */
void client_retry(struct client *client);
/** Ends client_retry(); does nothing if the client does not wait. */
void client_stop_retry(struct client *client);
/** Handles the lines of held clients that may go on. Call it before the loop sleeps. */
void held_check(struct net *net);

#endif /* DAEMON_HOLD_H */
