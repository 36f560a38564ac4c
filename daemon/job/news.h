/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to jobs, for those who asked to be told: events.subscribe, and the trace. Each kind
 * of event is told from one place; where nobody wants it, telling costs one branch.
 */
#ifndef DAEMON_NEWS_H
#define DAEMON_NEWS_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/link.h"
#include "proto/wire/events.h"

struct client;
struct ending;
struct service;
struct task;

/* A client has one; it is in the ring while it wants anything. */
struct subscription {
    struct link link;
    struct link in_scope; /* in the subscribers of its flow, of its user, or of all jobs */
    uint32_t events;      /* bit 1 << enum event_kind */
    enum event_scope scope;
    uint64_t interval_ns;
    uint64_t next;    /* uv_hrtime(): when progress is told again */
    uint64_t dropped; /* since the latest event that was sent */
};

struct news {
    uint32_t wanted; /* kinds that somebody has to hear of */
    struct link subscriptions;
    struct link subscribers; /* those to the jobs of all users */
    uv_timer_t timer; /* for progress; runs only while somebody wants it and something runs */
    bool ticking;     /* it does */
    uint64_t dropped; /* events that subscribers were too slow for */
    struct jsonw line;
};

void news_init(struct news *news, uv_loop_t *loop);
/** Begins to close; the memory must stay until the loop has run on. */
void news_close(struct news *news);

void subscription_init(struct subscription *subscription);
/** The client's subscription, in place of the one it had. No events: it has none any more. */
void news_subscribe(struct client *client, const struct events_subscribe *call);
void news_unsubscribe(struct client *client);
/** The service's trace has come or gone. */
void news_trace_changed(struct service *service);

/** Use news_tell(). */
void news_spread(struct news *news, const struct task *task, enum event_kind kind,
                 const struct ending *ending);

/** `ending` goes with EVENT_DONE, and is null with the others. */
static inline void news_tell(struct news *news, const struct task *task, enum event_kind kind,
                             const struct ending *ending)
{
    if (news->wanted >> kind & 1)
        news_spread(news, task, kind, ending);
}

#endif /* DAEMON_NEWS_H */
