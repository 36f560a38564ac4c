/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds clients until there is room for their next request or for its reply. */
#ifndef DAEMON_HOLD_H
#define DAEMON_HOLD_H

struct client;
struct service;

enum hold {
    HOLD_NONE,
    HOLD_JOBS,       /* too many jobs are under way */
    HOLD_REPLIES,    /* the reply of one more job may not fit beside those unread and expected */
    HOLD_UNREAD,     /* the user has too many unread bytes */
    HOLD_DESCRIPTORS /* too many replies with a descriptor are unread */
};

/** The client's next line waits: it is handled when that reason is gone. */
void client_hold(struct client *client, enum hold why);
/** Handles the lines of clients whose reason is gone; called at the end of a round of the loop. */
void client_let_in(struct service *service);

#endif /* DAEMON_HOLD_H */
