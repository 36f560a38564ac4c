/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The net room: connections, requests in, replies and events out. It calls daemon/job, which
 * answers by the callbacks in net.c.
 *
 *     listener.c   accepts a connection   (bind.c: the socket file; slots.c: who may connect)
 *     client.c     the life of a connection
 *     intake.c     bytes and descriptors --> lines
 *     call.c       line --> request --> handler   (hold.c, backlog.c: when a request must wait)
 *     submit.c, wait.c, listing.c, call_*.c, drain.c, subscriptions.c   the handlers
 *     answer.c     reply --> client_send.c --> outbox.c --> socket
 *
 * To add an RPC method, start in call.h. To add a number to daemon.stats, start in stats.h.
 *
 * Everything here belongs to the loop's thread.
 */
#ifndef DAEMON_NET_H
#define DAEMON_NET_H

#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/net/hold.h"
#include "daemon/net/listener.h"
#include "daemon/net/slots.h"
#include "daemon/net/stats.h"
#include "daemon/net/subscriptions.h"
#include "proto/json/jsonw.h"

struct jobs;

struct net {
    uv_loop_t *loop;
    const struct config *config;
    struct chores *chores;
    struct jobs *jobs;
    void (*settled)(void *context); /* called when a job or a client is gone */
    void *context;

    struct listener listener;
    struct link clients;     /* list of struct client */
    struct chore ending;     /* ends clients after net_end_clients() */
    uint32_t clients_to_end; /* number of clients that `ending` has not ended yet */
    struct slots slots;
    uint64_t last_client; /* number of the latest connection */
    uint64_t turned_away; /* connections that were refused, and have no number */
    struct log_rate turned_away_rate;
    struct link unsent;    /* clients with replies to send at the end of this round of the loop */
    struct link full;      /* clients of users who have too many descriptors that are not closed */
    struct held held;      /* clients with a request that must wait */
    uv_prepare_t round;    /* runs at the end of a round: just before the loop sleeps */
    uint64_t intake_began; /* uv_hrtime() of the first input of this round; 0: no input yet */
    uv_async_t relieved;   /* sent when descriptors were closed for which `full` clients wait */
    struct link drains;    /* daemon.drain requests that wait for the last job (drain.c) */
    struct subscriptions subscriptions;
    struct stats stats;
    struct jsonw scratch; /* buffer in which replies are written before they are sent */
};

/* Parameters of net_init(). All pointers must outlive the net. */
struct net_setup {
    uv_loop_t *loop;
    const struct config *config;
    struct chores *chores;
    struct jobs *jobs; /* the jobs, initialised; net_init() sets their callbacks */
    void (*settled)(void *context);
    void *context;
};

/** Initialises net without connections. The loop must have opened its eventfd (jobs_init()). */
void net_init(struct net *net, const struct net_setup *setup);
/** Begins to close the handles; no client may be left. *net must stay until the loop has closed
 * them. */
void net_close(struct net *net);
/** Frees the other memory of the room. Call it after the loop has closed the handles. */
void net_finish(struct net *net);

/** Ends all connections, in slices of the loop's time; each is closed when its last replies are
 * sent. */
void net_end_clients(struct net *net);
/** Answers pending daemon.drain requests if no job is left, then calls net->settled. Call it when a
 * client has left. */
void net_settle(struct net *net);
/**
 * Takes input again from clients in `full`. Called on any thread; it is a callback for
 * reaper_start().
 */
void net_relieve(void *net);

#endif /* DAEMON_NET_H */
