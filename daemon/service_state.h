/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a service knows. It belongs to the loop's thread. */
#ifndef DAEMON_STATE_H
#define DAEMON_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/base/chores.h"
#include "daemon/base/link.h"
#include "daemon/config/config.h"
#include "daemon/job/channels.h"
#include "daemon/job/complete.h"
#include "daemon/job/deadline.h"
#include "daemon/job/history.h"
#include "daemon/job/news.h"
#include "daemon/job/registry.h"
#include "daemon/job/scheduler.h"
#include "daemon/job/user.h"
#include "daemon/job/watchdog.h"
#include "daemon/net/hold.h"
#include "daemon/net/listen.h"
#include "daemon/net/slots.h"
#include "daemon/service.h"
#include "proto/json/jsonw.h"
#include "proto/wire/daemon_stats.h"

enum service_state {
    SERVICE_SERVING,
    SERVICE_STOPPING, /* no new jobs; running ones are waited for */
    SERVICE_CLOSING,  /* no jobs are left; clients get the rest of their replies */
    SERVICE_CLOSED    /* nothing of ours keeps the loop alive */
};

/* Since the start. */
struct totals {
    uint64_t submitted, done, failed, cancelled, refused, bytes_moved;
};

/* Jobs that have not ended, by their states: what daemon.stats tells without a look at each. */
struct job_counts {
    uint32_t waiting, queued[LANE_PRIORITIES], running;
};

struct client;

struct service {
    uv_loop_t *loop;
    struct config config;
    enum service_state state;
    bool gone; /* closed, and the loop has let go of all our handles */
    struct listener listener;

    struct link clients;
    struct slots slots;
    uint64_t last_client; /* number given to the latest one */
    uint64_t turned_away; /* connections that got no number */
    struct log_rate turned_away_rate;
    struct users users;
    struct link unsent; /* clients with replies that wait for the end of this round of the loop */
    struct link full;   /* clients of users with too many descriptors that wait */
    struct held held;   /* clients whose next job waits for room */
    uv_prepare_t round; /* the end of a round: just before the loop sleeps */
    uint64_t intake_began; /* uv_hrtime() of the first input of this round; 0: none yet */
    struct chores chores;

    bool refusing;      /* drained by request: no new jobs until it resumes */
    struct link drains; /* drain.c: those that wait for the last job */
    uint64_t last_job;
    struct registry registry; /* of tasks and records */
    struct history history;
    struct chore trimming; /* of the history, after a reload */
    struct link tasks;     /* all there are */
    uint32_t jobs;         /* as many */
    struct job_counts counts;
    uint32_t prepared;    /* prepared jobs of all connections */
    struct link settling; /* after.c: dependents of jobs that have ended */
    struct scheduler scheduler;
    struct link wide;          /* whose turn it was, but not enough channels were free */
    struct link running_tasks; /* on channels */
    uint32_t running;          /* as many */
    struct channels channels;
    bool dispatching; /* inside of dispatch_run() */
    struct watchdog watchdog;
    struct deadlines deadlines;
    struct completions completions;
    uv_timer_t drain;
    uv_async_t relieved; /* the reaper has closed descriptors that clients wait for */

    uint64_t started; /* uv_hrtime() */
    uint64_t clock;   /* the same, when it was last looked at: nearly now, and free */
    struct totals totals;
    struct histogram queued, moving;
    mli_mov_channel_stats before[MLI_MOV_MAX_CHANNELS]; /* what channels counted before it came */
    struct told {
        uint64_t bytes, busy_ns;
    } told[MLI_MOV_MAX_CHANNELS]; /* stats.c: what was told of them last */

    struct news news;
    struct trace *trace;  /* null: none */
    struct jsonw scratch; /* where replies are written before they are sent */
};

/** Goes on with a shutdown where it can. Call it when a job or a client is gone. */
void service_settle(struct service *service);

static inline bool service_takes_jobs(const struct service *service)
{
    return service->state == SERVICE_SERVING && !service->refusing;
}

/** Is there room for another job of this client? Also where it would be refused anyway. */
bool service_has_room(const struct service *service, const struct client *client);

#endif /* DAEMON_STATE_H */
