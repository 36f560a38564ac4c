/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting connections, also when there is no room for any. */
#ifndef DAEMON_LISTEN_H
#define DAEMON_LISTEN_H

#include <stdbool.h>
#include <uv.h>

#include "daemon/net/bind.h"

struct net;

struct listener {
    struct net *net;
    bool open;
    struct bound bound;
    int reserve; /* a descriptor to give up when there are no others, to turn somebody away */
    uv_poll_t poll;
    uv_timer_t retry; /* runs while accepting pauses for want of everything */
};

/** Listens at the configured path. Returns 0 or -errno. */
int listener_open(struct listener *listener, struct net *net);
/** The same with a socket that listens already; owns it, also on failure. */
int listener_adopt(struct listener *listener, struct net *net, int socket);
/** Harmless where it is not open. The memory must stay until the loop has run on. */
void listener_close(struct listener *listener);

#endif /* DAEMON_LISTEN_H */
