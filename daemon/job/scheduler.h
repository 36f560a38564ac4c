/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is next. Deficit round robin between the lanes of one priority (Shreedhar and Varghese 1996):
 * a lane whose turn it is gets a quantum of bytes on top of what it has left, starts jobs as long
 * as that lasts, and the next lane has its turn. So each gets as many bytes as the others, whatever
 * the size of its jobs, and choosing costs the same with one lane as with a thousand.
 *
 *     ring of a priority:  lane -> lane -> lane        each with its jobs in the order of arrival
 *     ages of a priority:  the same lanes, the one whose first job has waited longest at the head
 *
 * Higher priorities go first. The first job of a lane that is passed over for longer than `ageing`
 * moves up, to the end of its flow's next lane. Only the first: who waits behind jobs of his own is
 * passed over by nobody, and many jobs give nobody a larger share.
 *
 * Plain data: knows nothing of tasks, channels or the loop.
 */
#ifndef DAEMON_SCHEDULER_H
#define DAEMON_SCHEDULER_H

#include "lane.h"

struct scheduler {
    uint64_t quantum, ageing_ns; /* may be changed at any time; ageing 0: never */
    struct link rings[LANE_PRIORITIES];
    struct link ages[LANE_PRIORITIES];
    uint32_t lengths[LANE_PRIORITIES];
    uint32_t length;
};

void scheduler_init(struct scheduler *scheduler, uint64_t quantum, uint64_t ageing_ns);

/** Queues; `priority` is -1, 0 or 1, `lanes` those of its flow. */
void scheduler_push(struct scheduler *scheduler, struct lane *lanes, struct queued *queued,
                    int priority, uint64_t bytes, uint64_t now);

/** The next one, taken out and charged for; null where nothing is queued. */
struct queued *scheduler_take(struct scheduler *scheduler, uint64_t now);

/** Takes it out without a charge. Harmless where it is not queued. */
void scheduler_remove(struct scheduler *scheduler, struct queued *queued);

#endif /* DAEMON_SCHEDULER_H */
