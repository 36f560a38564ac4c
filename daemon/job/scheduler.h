/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the job that starts next, by two levels of deficit round robin (turn.h): users take turns
 * by weight; within the turns of a user, the user's connections take turns with equal weights.
 * Forty connections of a user therefore get no more bytes than one connection of another user.
 *
 *     ring of a class:   user -> user -> user        `weight` quanta of bytes in each turn
 *     of each user, the ring of each priority:
 *                        lane -> lane -> lane        one lane for each connection
 *
 * The class of a job is the priority that it has among the jobs of all users: the priority it asks
 * for, but no more than the maximum of its user. Higher classes go first. The priority orders the
 * jobs of one user within a class, so that a user with the maximum 0 can still have his jobs of
 * priority 1 before his others, and not before those of other users.
 *
 * Ageing: where a user was not served in a class for `ageing_ns`, the job that is next there moves
 * up one class. Where a lane was not served for so long, its first job moves up one priority within
 * the class. A user who always has jobs in service in a class therefore gains nothing there by
 * having many connections.
 *
 * Plain data: knows nothing of tasks, channels or the loop.
 */
#ifndef DAEMON_SCHEDULER_H
#define DAEMON_SCHEDULER_H

#include "daemon/job/lane.h"

struct scheduler {
    uint64_t quantum, ageing_ns; /* may be changed at any time; ageing 0: never */
    struct ring classes[LANE_PRIORITIES];
    uint32_t lengths[LANE_PRIORITIES];
    uint32_t length;
    uint32_t ageing_left; /* moves that this scheduler_take() may still make */
};

/* Jobs that one scheduler_take() moves up by ageing. The next call moves up the remaining jobs. */
enum { SCHEDULER_AGED_MAX = 256 };

void scheduler_init(struct scheduler *scheduler, uint64_t quantum, uint64_t ageing_ns);

/** Queues; `priority` and `max`, the maximum of the user, are -1, 0 or 1. */
void scheduler_push(struct scheduler *scheduler, struct lanes *lanes, struct queued *queued,
                    int priority, int max, uint64_t bytes, uint64_t now);

/** The next one, taken out and charged for; null where nothing is queued. */
struct queued *scheduler_take(struct scheduler *scheduler, uint64_t now);

/** Returns whether a job may start now, out of turn. */
typedef bool scheduler_fits(struct queued *queued, const void *context);

/* Users of each class that one scheduler_backfill() looks at. */
enum { SCHEDULER_BACKFILL_USERS = 16 };

/**
 * Takes out and charges for the first job that fits, of the next jobs of the users in the order of
 * their turns, higher classes first. The user's turn ends, so that users take turns here too.
 * Returns null where none of the jobs fits.
 */
struct queued *scheduler_backfill(struct scheduler *scheduler, scheduler_fits *fits,
                                  const void *context, uint64_t now);

/** Takes it out without a charge. Harmless where it is not queued. */
void scheduler_remove(struct scheduler *scheduler, struct queued *queued);

#endif /* DAEMON_SCHEDULER_H */
