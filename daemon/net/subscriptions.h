/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events.subscribe: sends the events of jobs (job_events.h) to the clients that subscribed to them.
 */
#ifndef DAEMON_SUBSCRIPTIONS_H
#define DAEMON_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/link.h"
#include "proto/json/jsonw.h"
#include "proto/wire/events.h"

struct client;
struct net;
struct task;

/* A client's subscription. It is in the lists only while it has events. */
struct subscription {
    struct link link;     /* in the list of all subscriptions */
    struct link in_scope; /* in the list of subscribers to the jobs of its flow, of its user, or of
                             all users */
    uint32_t events;      /* kinds of events: bit 1 << enum event_kind */
    enum event_scope scope;
    uint64_t interval_ns; /* time between two progress events of a job */
    uint64_t next;        /* time of the next progress events, by uv_hrtime() */
    uint64_t dropped;     /* number of events that were not sent since the latest sent event */
};

struct subscriptions {
    struct link list;
    struct link subscribers; /* subscribers to the jobs of all users */
    uv_timer_t
        timer; /* for progress; runs only while a subscriber wants progress and a task is running */
    bool ticking;     /* true: the timer runs */
    uint64_t dropped; /* number of events that were dropped because subscribers read too slowly */
    struct jsonw line;
};

void subscriptions_init(struct subscriptions *all, uv_loop_t *loop);
/** Begins to close the timer. The struct must stay until the loop has closed the timer. */
void subscriptions_close(struct subscriptions *all);

/** Sends an event of a task to its subscribers. Changes event->dropped. */
void subscriptions_spread(struct net *net, const struct task *task, struct event *event);

/** Initialises a subscription without events. */
void subscription_init(struct subscription *subscription);
/** Removes the subscription of the client, if any. */
void subscriptions_remove(struct client *client);

#endif /* DAEMON_SUBSCRIPTIONS_H */
