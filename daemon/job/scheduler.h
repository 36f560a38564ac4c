/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the job that starts next, by two levels of deficit round robin: users take turns
 * by weight; within the turns of a user, the user's connections take turns with equal weights.
 * Therefore forty connections of one user get no more bytes than one connection of another user.
 *
 *     ring of a class:   user -> user -> user        `weight` quanta of bytes in each turn
 *     of each user, the ring of each priority:
 *                        lane -> lane -> lane        one lane for each connection
 *
 * The class of a job is its priority among the jobs of all users: the priority in the request, but
 * at most the maximum of the user. Higher classes go first. Within a class, the priority in the
 * request orders the jobs of one user. A user with the maximum 0 can therefore put jobs of priority
 * 1 before other jobs of the same user, but not before jobs of other users.
 *
 * Ageing: if a user was not served in a class for `ageing_ns`, the user's next job in that class
 * moves up one class. If a lane was not served for `ageing_ns`, its first job moves up one priority
 * within the class. Many connections do not help a user whose jobs are served in a class all the
 * time.
 *
 * Plain data: knows nothing of tasks, channels or the loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"

/*
 * Deficit round robin between the members of a ring (Shreedhar and Varghese 1996). In its turn a
 * member gets its quantum of bytes added to its deficit and starts jobs as long as the deficit
 * lasts; then the next member has its turn. Members are served in proportion to their quanta,
 * whatever the sizes of their jobs. A search for a member whose deficit covers its next job may
 * have to pass over all members; several calls of ring_choose() then share the search.
 */

/* A member's turn in a ring. The member embeds it. */
struct turn {
    struct link in_turns, in_ages;
    uint64_t since;   /* time in ns when the member entered the ring or was served last */
    uint64_t deficit; /* jobs with so many bytes may still start in this turn of the member */
    bool granted;     /* true: the quantum of this turn was added to `deficit` */
    uint64_t search;  /* the latest search of the ring that has passed over the member; 0: none */
    uint64_t skipped; /* ring->skipped when `deficit` was computed */
};

struct ring {
    struct link turns; /* list of struct turn, by in_turns; it is the turn of the first one */
    struct link ages;  /* the same members, by in_ages; the one that waits longest is first */
    uint64_t skipped;  /* number of rounds that were skipped since the start */
    uint64_t search;   /* number of the current search, from 1 */
    uint64_t fewest;   /* in this search: fewest rounds after which a member can start its job */
};

/* The queues of users and connections. */

enum { LANE_PRIORITIES = 3 }; /* priorities 0, 1 and 2 are -1, 0 and 1 on the wire */

/* Jobs of one connection, class and priority. */
struct lane {
    struct turn turn;   /* place in portion.rings[priority]; unused if no job is queued */
    struct link queued; /* jobs (struct queued) in the order of arrival */
};

/* The jobs of one user in one class. */
struct portion {
    struct turn turn;                   /* place in the ring of the class; unused if length is 0 */
    struct ring rings[LANE_PRIORITIES]; /* the lanes with jobs, by priority */
    uint32_t length;                    /* number of jobs */
    struct share *share;
};

/* All jobs of one user. */
struct share {
    uint32_t weight; /* weight, at least 1; may be changed at any time */
    struct portion portions[LANE_PRIORITIES];
};

/* All jobs of one connection. */
struct lanes {
    struct share *share;                              /* the user of the connection */
    struct lane of[LANE_PRIORITIES][LANE_PRIORITIES]; /* lanes by class and priority */
};

/* A queued job. The structure of the job embeds it. */
struct queued {
    struct lanes *lanes;
    struct lane *lane;   /* lane of the job; null: not queued */
    int class, priority; /* class and priority of the lane */
    struct link in_lane;
    uint64_t cost; /* cost of the job in bytes, at least LANE_COST_MIN */
};

/** The minimum cost of a job in bytes: even a tiny job takes time to start. */
enum { LANE_COST_MIN = 4096 };

/** Initialises a user: no queued jobs, weight 1. */
void share_init(struct share *share);
/** Initialises a connection: no queued jobs. `share` must outlive the connection. */
void lanes_init(struct lanes *lanes, struct share *share);

static inline void queued_init(struct queued *queued)
{
    *queued = (struct queued){.lane = 0};
    link_init(&queued->in_lane);
}

/* The scheduler. */
struct scheduler {
    uint64_t quantum, ageing_ns; /* may change at any time; ageing_ns 0: no ageing */
    struct ring classes[LANE_PRIORITIES];
    uint32_t lengths[LANE_PRIORITIES];
    uint32_t length;
    uint32_t ageing_left; /* the current call may still move this many jobs to a higher class */
    uint32_t steps;       /* the current call may still look at this many members of rings */
    bool undecided;       /* true: the latest scheduler_take() ran out of steps */
};

/* The maximum number of users and connections that one call skips. */
enum { SCHEDULER_STEPS_MAX = 64 };

/* The maximum number of jobs that one call moves up by ageing. The next call continues. */
enum { SCHEDULER_AGED_MAX = 128 };

void scheduler_init(struct scheduler *scheduler, uint64_t quantum, uint64_t ageing_ns);

/** Queues a job. `priority` is that of the job, `max` the highest that its user may have; both are
 * -1, 0 or 1. */
void scheduler_push(struct scheduler *scheduler, struct lanes *lanes, struct queued *queued,
                    int priority, int max, uint64_t bytes, uint64_t now);

/**
 * Removes and returns the next job, and charges its user. Returns NULL if no job is queued, or if
 * one call does not suffice to choose a job (`undecided`): the next call continues.
 */
struct queued *scheduler_take(struct scheduler *scheduler, uint64_t now);

/** Returns whether a job may start now although another job is the next. */
typedef bool scheduler_fits(struct queued *queued, const void *context);

/* The maximum number of users of each class that one scheduler_backfill() tries. */
enum { SCHEDULER_BACKFILL_USERS = 16 };

/**
 * Removes and returns the first job that fits, and charges its user. Tries the next job of each
 * user, in the order of their turns, higher classes first. Ends the turn of the user whose job is
 * taken, so that users take turns here too. Returns NULL if no job fits.
 */
struct queued *scheduler_backfill(struct scheduler *scheduler, scheduler_fits *fits,
                                  const void *context, uint64_t now);

/** Removes a job without a charge. Does nothing if the job is not queued. */
void scheduler_remove(struct scheduler *scheduler, struct queued *queued);
