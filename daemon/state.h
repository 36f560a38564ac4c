/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a service knows. It belongs to the loop's thread. */
#ifndef DAEMON_STATE_H
#define DAEMON_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "complete.h"
#include "config.h"
#include "deadline.h"
#include "jsonw.h"
#include "link.h"
#include "listen.h"
#include "queue.h"
#include "service.h"

enum service_state {
    SERVICE_SERVING,
    SERVICE_DRAINING, /* no new jobs; running ones are waited for */
    SERVICE_CLOSING,  /* no jobs are left; clients get the rest of their replies */
    SERVICE_CLOSED    /* nothing of ours keeps the loop alive */
};

struct service {
    uv_loop_t *loop;
    struct config config;
    enum service_state state;
    bool gone; /* closed, and the loop has let go of all our handles */
    struct listener listener;

    struct link clients;
    uint32_t client_count;
    uint64_t last_client; /* number given to the latest one */
    uint64_t turned_away; /* connections that got no number */

    struct queue queue;
    struct deadlines deadlines;
    struct completions completions;
    uv_timer_t drain;
    uint32_t jobs;          /* all there are, queued or running */
    uint32_t running;       /* of them, on channels */
    uint32_t channels_busy; /* by them */

    uint64_t started; /* uv_hrtime() */
    uint64_t jobs_done, jobs_failed, bytes_moved;

    struct jsonw scratch; /* where replies are written before they are sent */
};

/** Goes on with a shutdown where it can. Call it when a job or a client is gone. */
void service_settle(struct service *service);

#endif /* DAEMON_STATE_H */
