/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deficit round robin between the members of a ring (Shreedhar and Varghese 1996): in its turn a
 * member gets its quantum of bytes added to its deficit and starts jobs as long as the deficit
 * lasts; then the next member has a turn. Members are served in proportion to their quanta,
 * independent of the size of their jobs, and the cost of choosing does not grow with their number.
 *
 * Plain data. scheduler.c has rings of users and, for each user, rings of connections.
 */
#ifndef DAEMON_TURN_H
#define DAEMON_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/link.h"

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

#endif /* DAEMON_TURN_H */
