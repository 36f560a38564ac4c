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

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"

/*
 * Deficit round robin between the members of a ring (Shreedhar and Varghese 1996). In its turn a
 * member gets its quantum of bytes added to its deficit and starts jobs as long as the deficit
 * lasts; then the next member has its turn. Members are served in proportion to their quanta,
 * whatever the sizes of their jobs, and the cost of choosing does not grow with their number.
 */

/* The part of a member that the ring uses; the member embeds it. */
struct turn {
    struct link in_turns, in_ages;
    uint64_t since;   /* ns: when it entered the ring or was served last */
    uint64_t deficit; /* bytes that it may still start in this turn */
    bool granted;     /* it has been given the quantum of this turn */
};

struct ring {
    struct link turns; /* struct turn, by in_turns: the member whose turn is now is first */
    struct link ages;  /* struct turn, by in_ages: sorted by `since` */
};

/* Callbacks of ring_choose() about the members of a ring. */
struct ring_rules {
    /** Bytes of the job that the member would start next. */
    uint64_t (*cost)(struct turn *turn, const struct ring_rules *rules);
    /** Bytes that the member may start in each turn, at least 1. */
    uint64_t (*quantum)(struct turn *turn, const struct ring_rules *rules);
    void *context;
    uint64_t now; /* ns */
};

void turn_init(struct turn *turn);
void ring_init(struct ring *ring);

static inline bool ring_empty(const struct ring *ring)
{
    return link_empty(&ring->turns);
}

/** A member that was served: its age begins anew. */
static inline void ring_renew(struct ring *ring, struct turn *turn, uint64_t now)
{
    turn->since = now;
    link_remove(&turn->in_ages);
    link_append(&ring->ages, &turn->in_ages);
}

/** A member that has something to start now. It enters without a deficit. */
static inline void ring_enter(struct ring *ring, struct turn *turn, uint64_t now)
{
    link_append(&ring->turns, &turn->in_turns);
    ring_renew(ring, turn, now);
}

/** A member that has nothing to start any more: its deficit is forfeited. */
static inline void turn_leave(struct turn *turn)
{
    link_remove(&turn->in_turns);
    link_remove(&turn->in_ages);
    turn->deficit = 0;
    turn->granted = false;
}

/** The next member has its turn, and this one is the last of the round. */
static inline void ring_pass(struct ring *ring, struct turn *turn)
{
    turn->granted = false;
    link_remove(&turn->in_turns);
    link_append(&ring->turns, &turn->in_turns);
}

/** The member that has waited longest, if it has done so for `ns`; else null. */
static inline struct turn *ring_overdue(const struct ring *ring, uint64_t ns, uint64_t now)
{
    struct turn *oldest;

    if (link_empty(&ring->ages))
        return NULL;
    oldest = LINK_OWNER(ring->ages.next, struct turn, in_ages);
    /* `now` may have been read a little before `since`. */
    return now >= oldest->since && now - oldest->since >= ns ? oldest : NULL;
}

/**
 * Passes the turn on until the deficit of a member covers the cost of its next job, and returns
 * this member. The ring must not be empty. The caller subtracts the cost from the deficit; until
 * then, further calls return the same member.
 */
struct turn *ring_choose(struct ring *ring, const struct ring_rules *rules);

/* The queues of users and connections */

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

/* The scheduler */
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
