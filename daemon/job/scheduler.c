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

static void enter(struct scheduler *scheduler, struct queued *queued, int priority)
{
    struct lane *lane = &queued->lanes[priority];

    if (link_empty(&lane->queued))
        link_append(&scheduler->rings[priority], &lane->active);
    link_append(&lane->queued, &queued->in_lane);
    link_append(&scheduler->ages[priority], &queued->in_age);
    queued->lane = lane;
    queued->priority = priority;
    scheduler->lengths[priority]++;
    scheduler->length++;
}

static void leave(struct scheduler *scheduler, struct queued *queued)
{
    struct lane *lane = queued->lane;

    link_remove(&queued->in_lane);
    link_remove(&queued->in_age);
    scheduler->lengths[queued->priority]--;
    scheduler->length--;
    queued->lane = NULL;
    if (!link_empty(&lane->queued))
        return;
    /* Who has nothing to start saves nothing up. */
    link_remove(&lane->active);
    lane->deficit = 0;
    lane->granted = false;
}

void scheduler_push(struct scheduler *scheduler, struct lane *lanes, struct queued *queued,
                    int priority, uint64_t bytes, uint64_t now)
{
    queued->lanes = lanes;
    queued->cost = bytes > LANE_COST_MIN ? bytes : LANE_COST_MIN;
    queued->since = now;
    enter(scheduler, queued, priority + 1);
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
            struct queued *oldest = LINK_OWNER(ages->next, struct queued, in_age);

            /* A clock that was read a little earlier is no reason to move anybody. */
            if (now < oldest->since || now - oldest->since < scheduler->ageing_ns)
                break;
            leave(scheduler, oldest);
            oldest->since = now;
            enter(scheduler, oldest, i + 1);
        }
    }
}

static struct queued *head_of(struct lane *lane)
{
    return LINK_OWNER(lane->queued.next, struct queued, in_lane);
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
        leave(scheduler, queued);
        return queued;
    }
    return NULL;
}
