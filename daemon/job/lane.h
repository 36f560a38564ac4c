/* SPDX-License-Identifier: BSD-3-Clause */
/* What one connection has queued at one priority. scheduler.h says how it is served. */
#ifndef DAEMON_LANE_H
#define DAEMON_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "link.h"

enum { LANE_PRIORITIES = 3 }; /* 0, 1, 2 are -1, 0 and 1 on the wire */

struct lane {
    struct link active; /* in the scheduler's ring, while anything is queued */
    struct link in_age; /* in its list of ages, as long */
    struct link queued; /* struct queued, in the order of arrival */
    uint64_t since;     /* ns: when the first of them became that */
    uint64_t deficit;   /* bytes that it may still start this turn */
    bool granted;       /* it has been given its quantum this turn */
};

/* A place in a lane. Whoever queues something embeds one; lane null: it is not queued. */
struct queued {
    struct lane *lanes; /* of its flow */
    struct lane *lane;  /* where it is now */
    int priority;       /* index of the lane */
    struct link in_lane;
    uint64_t cost; /* bytes, LANE_COST_MIN at least */
};

/** A job costs as many bytes at least: starting one is not free. */
enum { LANE_COST_MIN = 4096 };

static inline void lane_init(struct lane *lane)
{
    *lane = (struct lane){.deficit = 0};
    link_init(&lane->active);
    link_init(&lane->in_age);
    link_init(&lane->queued);
}

static inline void queued_init(struct queued *queued)
{
    *queued = (struct queued){.lane = 0};
    link_init(&queued->in_lane);
}

#endif /* DAEMON_LANE_H */
