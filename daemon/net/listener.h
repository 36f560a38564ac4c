/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepts connections, and refuses them with a reason if there is no room. */
#ifndef DAEMON_LISTENER_H
#define DAEMON_LISTENER_H

#include <stdbool.h>
#include <uv.h>

#include "daemon/net/bind.h"

struct net;

struct listener {
    struct net *net;
    bool open;
    struct bound bound;
    int reserve; /* a reserve that is closed to accept and refuse a connection when no descriptor is
                    left */
    uv_poll_t poll;
    uv_timer_t retry; /* runs while accepting is paused */
};

/** Listens at the configured path. Returns 0 or -errno. */
int listener_open(struct listener *listener, struct net *net);
/** Serves a socket that listens already. Takes ownership, also on failure. Returns 0 or -errno. */
int listener_adopt(struct listener *listener, struct net *net, int socket);
/** Closes the listener if open. The struct must stay until the loop has closed its handles. */
void listener_close(struct listener *listener);

#endif /* DAEMON_LISTENER_H */
