/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of jobs of users and connections. scheduler.h describes the order of service. */
#ifndef DAEMON_LANE_H
#define DAEMON_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"
#include "daemon/job/turn.h"

enum { LANE_PRIORITIES = 3 }; /* 0, 1, 2 are -1, 0 and 1 on the wire */

/* Jobs of one connection, class and priority. */
struct lane {
    struct turn turn;   /* in its portion's ring, while a job is queued */
    struct link queued; /* struct queued, in the order of arrival */
};

/* The jobs of one user in one class. */
struct portion {
    struct turn turn;                   /* in the scheduler's ring of the class, while length > 0 */
    struct ring rings[LANE_PRIORITIES]; /* the lanes with jobs, by priority */
    uint32_t length;                    /* jobs */
    struct share *share;
};

/* All jobs of one user. */
struct share {
    uint32_t weight; /* may be changed at any time; at least 1 */
    struct portion portions[LANE_PRIORITIES];
};

/* All jobs of one connection. */
struct lanes {
    struct share *share;                              /* of its user */
    struct lane of[LANE_PRIORITIES][LANE_PRIORITIES]; /* by class and priority */
};

/* A place in a lane. Whoever queues something embeds one; lane null: it is not queued. */
struct queued {
    struct lanes *lanes;
    struct lane *lane;
    int class, priority; /* where it is now */
    struct link in_lane;
    uint64_t cost; /* bytes, LANE_COST_MIN at least */
};

/** A job costs as many bytes at least: starting one is not free. */
enum { LANE_COST_MIN = 4096 };

/** Initialises what a user has queued; weight 1. */
void share_init(struct share *share);
/** Initialises what a connection has queued. `share` must outlive it. */
void lanes_init(struct lanes *lanes, struct share *share);

static inline void queued_init(struct queued *queued)
{
    *queued = (struct queued){.lane = 0};
    link_init(&queued->in_lane);
}

#endif /* DAEMON_LANE_H */
