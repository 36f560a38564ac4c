/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler.h"

#include <stddef.h>

void scheduler_init(struct scheduler *scheduler, uint64_t quantum, uint64_t ageing_ns)
{
    *scheduler = (struct scheduler){.quantum = quantum, .ageing_ns = ageing_ns};
    for (int i = 0; i < LANE_PRIORITIES; i++) {
        link_init(&scheduler->rings[i]);
        link_init(&scheduler->ages[i]);
    }
}

static struct queued *head_of(struct lane *lane)
{
    return LINK_OWNER(lane->queued.next, struct queued, in_lane);
}

/* The lane has another first job from now on. */
static void begin_age(struct scheduler *scheduler, struct lane *lane, int priority, uint64_t now)
{
    lane->since = now;
    link_remove(&lane->in_age);
    link_append(&scheduler->ages[priority], &lane->in_age);
}

static void enter(struct scheduler *scheduler, struct queued *queued, int priority, uint64_t now)
{
    struct lane *lane = &queued->lanes[priority];

    if (link_empty(&lane->queued)) {
        link_append(&scheduler->rings[priority], &lane->active);
        begin_age(scheduler, lane, priority, now);
    }
    link_append(&lane->queued, &queued->in_lane);
    queued->lane = lane;
    queued->priority = priority;
    scheduler->lengths[priority]++;
    scheduler->length++;
}

static void leave(struct scheduler *scheduler, struct queued *queued)
{
    struct lane *lane = queued->lane;

    link_remove(&queued->in_lane);
    scheduler->lengths[queued->priority]--;
    scheduler->length--;
    queued->lane = NULL;
    if (!link_empty(&lane->queued))
        return;
    /* Who has nothing to start saves nothing up. */
    link_remove(&lane->active);
    link_remove(&lane->in_age);
    lane->deficit = 0;
    lane->granted = false;
}

/* The same for the first of a lane, where time goes on for the next one. */
static void leave_first(struct scheduler *scheduler, struct queued *queued, uint64_t now)
{
    struct lane *lane = queued->lane;

    leave(scheduler, queued);
    if (!link_empty(&lane->queued))
        begin_age(scheduler, lane, queued->priority, now);
}

void scheduler_push(struct scheduler *scheduler, struct lane *lanes, struct queued *queued,
                    int priority, uint64_t bytes, uint64_t now)
{
    queued->lanes = lanes;
    queued->cost = bytes > LANE_COST_MIN ? bytes : LANE_COST_MIN;
    enter(scheduler, queued, priority + 1, now);
}

void scheduler_remove(struct scheduler *scheduler, struct queued *queued)
{
    if (queued->lane)
        leave(scheduler, queued);
}

/* From the top down, so that nothing moves up twice at once. */
static void age(struct scheduler *scheduler, uint64_t now)
{
    if (scheduler->ageing_ns == 0)
        return;
    for (int i = LANE_PRIORITIES - 1; i-- > 0;) {
        struct link *ages = &scheduler->ages[i];

        while (!link_empty(ages)) {
            struct lane *lane = LINK_OWNER(ages->next, struct lane, in_age);
            struct queued *first = head_of(lane);

            /* A clock that was read a little earlier is no reason to move anybody. */
            if (now < lane->since || now - lane->since < scheduler->ageing_ns)
                break;
            leave_first(scheduler, first, now);
            enter(scheduler, first, i + 1, now);
        }
    }
}

/*
 * A whole round in which no lane could start anything: with jobs of many quanta there would be many
 * such. All but the last are given at once.
 */
static void skip_rounds(struct scheduler *scheduler, struct link *ring)
{
    uint64_t fewest = UINT64_MAX;

    for (struct link *l = ring->next; l != ring; l = l->next) {
        struct lane *lane = LINK_OWNER(l, struct lane, active);
        const uint64_t missing = head_of(lane)->cost - lane->deficit;
        const uint64_t rounds = (missing + scheduler->quantum - 1) / scheduler->quantum;

        if (rounds < fewest)
            fewest = rounds;
    }
    for (struct link *l = ring->next; fewest > 1 && l != ring; l = l->next)
        LINK_OWNER(l, struct lane, active)->deficit += (fewest - 1) * scheduler->quantum;
}

/* The lane of this ring whose turn it is, and that can afford its first job. */
static struct lane *choose(struct scheduler *scheduler, struct link *ring)
{
    struct lane *first = NULL; /* of those that were passed over */

    for (;;) {
        struct lane *lane = LINK_OWNER(ring->next, struct lane, active);

        if (!lane->granted) {
            if (lane == first)
                skip_rounds(scheduler, ring);
            lane->granted = true;
            lane->deficit += scheduler->quantum;
        }
        if (lane->deficit >= head_of(lane)->cost)
            return lane;
        lane->granted = false;
        link_remove(&lane->active);
        link_append(ring, &lane->active);
        if (!first)
            first = lane;
    }
}

struct queued *scheduler_take(struct scheduler *scheduler, uint64_t now)
{
    age(scheduler, now);
    for (int i = LANE_PRIORITIES; i-- > 0;) {
        struct link *ring = &scheduler->rings[i];
        struct lane *lane;
        struct queued *queued;

        if (link_empty(ring))
            continue;
        lane = choose(scheduler, ring);
        queued = head_of(lane);
        lane->deficit -= queued->cost;
        leave_first(scheduler, queued, now);
        return queued;
    }
    return NULL;
}
