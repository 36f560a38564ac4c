/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/scheduler.h"

#include <stddef.h>

/* Rings */

#define RING_COST_UNKNOWN UINT64_MAX

/* Costs and quanta of the members of a ring, for ring_choose(). */
struct ring_rules {
    /** Returns the bytes of the member's next job, or RING_COST_UNKNOWN if *steps is 0. */
    uint64_t (*cost)(struct turn *turn, const struct ring_rules *rules);
    /** Returns the bytes that the member may start in each turn, at least 1. */
    uint64_t (*quantum)(struct turn *turn, const struct ring_rules *rules);
    void *context;
    uint64_t now;    /* ns */
    uint32_t *steps; /* number of members that the search may still skip */
};

static void turn_init(struct turn *turn)
{
    *turn = (struct turn){.deficit = 0};
    link_init(&turn->in_turns);
    link_init(&turn->in_ages);
}

static void ring_init(struct ring *ring)
{
    *ring = (struct ring){.search = 1, .fewest = UINT64_MAX};
    link_init(&ring->turns);
    link_init(&ring->ages);
}

static bool ring_empty(const struct ring *ring)
{
    return link_empty(&ring->turns);
}

/* Resets the age of a member that was just served. */
static void ring_renew(struct ring *ring, struct turn *turn, uint64_t now)
{
    turn->since = now;
    link_remove(&turn->in_ages);
    link_append(&ring->ages, &turn->in_ages);
}

/* Adds a member that has a job now. The member's deficit starts at 0. */
static void ring_enter(struct ring *ring, struct turn *turn, uint64_t now)
{
    turn->skipped = ring->skipped;
    link_append(&ring->turns, &turn->in_turns);
    ring_renew(ring, turn, now);
}

/* Removes a member that has no job left, and clears the member's deficit. */
static void turn_leave(struct turn *turn)
{
    link_remove(&turn->in_turns);
    link_remove(&turn->in_ages);
    turn->deficit = 0;
    turn->granted = false;
    turn->search = 0;
}

/* Ends the turn of a member, which becomes the last of the round. */
static void ring_pass(struct ring *ring, struct turn *turn)
{
    turn->granted = false;
    link_remove(&turn->in_turns);
    link_append(&ring->turns, &turn->in_turns);
}

/* Returns the member that has waited longest, if it has waited for at least `ns`; else NULL. */
static struct turn *ring_overdue(const struct ring *ring, uint64_t ns, uint64_t now)
{
    struct turn *oldest;

    if (link_empty(&ring->ages))
        return NULL;
    oldest = LINK_OWNER(ring->ages.next, struct turn, in_ages);
    /* `now` may have been read a little before `since`. */
    return now >= oldest->since && now - oldest->since >= ns ? oldest : NULL;
}

/* Adds the quanta of the rounds that the ring has skipped to the deficit of a member. */
static void catch_up(const struct ring *ring, struct turn *turn, const struct ring_rules *rules)
{
    if (turn->skipped == ring->skipped)
        return;
    turn->deficit += (ring->skipped - turn->skipped) * rules->quantum(turn, rules);
    turn->skipped = ring->skipped;
}

static void begin_search(struct ring *ring)
{
    ring->search++;
    ring->fewest = UINT64_MAX;
}

/*
 * Skips many rounds at once, after a round in which no member could start a job: a job that costs
 * many quanta would need as many rounds. Leaves the last round to ring_choose().
 */
static void skip_rounds(struct ring *ring)
{
    if (ring->fewest != UINT64_MAX)
        ring->skipped += ring->fewest - 1;
    begin_search(ring);
}

/* Passes over a member whose deficit is smaller than the cost of its next job. */
static void pass_over(struct ring *ring, struct turn *turn, const struct ring_rules *rules,
                      uint64_t cost)
{
    const uint64_t quantum = rules->quantum(turn, rules);
    const uint64_t rounds = (cost - turn->deficit + quantum - 1) / quantum;

    if (rounds < ring->fewest)
        ring->fewest = rounds;
    turn->search = ring->search;
    ring_pass(ring, turn);
}

/*
 * Gives turns to the members one after the other until the deficit of a member covers the cost of
 * its next job. Returns that member, and again in later calls, until the caller has subtracted the
 * cost from the deficit. Returns NULL if *rules->steps do not suffice: the next call continues. The
 * ring must not be empty.
 */
static struct turn *ring_choose(struct ring *ring, const struct ring_rules *rules)
{
    for (;;) {
        struct turn *turn = LINK_OWNER(ring->turns.next, struct turn, in_turns);
        uint64_t cost;

        if (!turn->granted) {
            if (turn->search == ring->search)
                skip_rounds(ring); /* the search has skipped all members */
            turn->granted = true;
            turn->deficit += rules->quantum(turn, rules);
        }
        catch_up(ring, turn, rules);
        cost = rules->cost(turn, rules);
        if (turn->deficit >= cost) {
            begin_search(ring);
            return turn;
        }
        if (cost == RING_COST_UNKNOWN || *rules->steps == 0)
            return NULL;
        --*rules->steps;
        pass_over(ring, turn, rules, cost);
    }
}

/* Users and connections. */
void share_init(struct share *share)
{
    share->weight = 1;
    for (int i = 0; i < LANE_PRIORITIES; i++) {
        struct portion *portion = &share->portions[i];

        *portion = (struct portion){.share = share};
        turn_init(&portion->turn);
        for (int k = 0; k < LANE_PRIORITIES; k++)
            ring_init(&portion->rings[k]);
    }
}

void lanes_init(struct lanes *lanes, struct share *share)
{
    lanes->share = share;
    for (int i = 0; i < LANE_PRIORITIES; i++) {
        for (int k = 0; k < LANE_PRIORITIES; k++) {
            turn_init(&lanes->of[i][k].turn);
            link_init(&lanes->of[i][k].queued);
        }
    }
}

void scheduler_init(struct scheduler *scheduler, uint64_t quantum, uint64_t ageing_ns)
{
    *scheduler = (struct scheduler){.quantum = quantum, .ageing_ns = ageing_ns};
    for (int i = 0; i < LANE_PRIORITIES; i++)
        ring_init(&scheduler->classes[i]);
}

static struct lane *lane_of(struct turn *turn)
{
    return LINK_OWNER(turn, struct lane, turn);
}

static struct portion *portion_of(struct turn *turn)
{
    return LINK_OWNER(turn, struct portion, turn);
}

static struct queued *head_of(struct lane *lane)
{
    return LINK_OWNER(lane->queued.next, struct queued, in_lane);
}

/* Lanes */

static void enter_lane(struct queued *queued, int class, int priority, uint64_t now)
{
    struct portion *portion = &queued->lanes->share->portions[class];
    struct lane *lane = &queued->lanes->of[class][priority];

    if (link_empty(&lane->queued))
        ring_enter(&portion->rings[priority], &lane->turn, now);
    link_append(&lane->queued, &queued->in_lane);
    queued->lane = lane;
    queued->class = class;
    queued->priority = priority;
}

static void leave_lane(struct queued *queued)
{
    struct lane *lane = queued->lane;

    link_remove(&queued->in_lane);
    queued->lane = NULL;
    if (link_empty(&lane->queued))
        turn_leave(&lane->turn);
}

/* Removes the first job of a lane, and resets the age of the lane. */
static void leave_lane_first(struct queued *queued, uint64_t now)
{
    struct lane *lane = queued->lane;
    struct portion *portion = &queued->lanes->share->portions[queued->class];

    leave_lane(queued);
    if (!link_empty(&lane->queued))
        ring_renew(&portion->rings[queued->priority], &lane->turn, now);
}

/* Classes */

static void enter_class(struct scheduler *scheduler, struct queued *queued, int class, int priority,
                        uint64_t now)
{
    struct portion *portion = &queued->lanes->share->portions[class];

    if (portion->length++ == 0)
        ring_enter(&scheduler->classes[class], &portion->turn, now);
    scheduler->lengths[class]++;
    scheduler->length++;
    enter_lane(queued, class, priority, now);
}

static struct portion *leave_class(struct scheduler *scheduler, const struct queued *queued)
{
    struct portion *portion = &queued->lanes->share->portions[queued->class];

    scheduler->lengths[queued->class]--;
    scheduler->length--;
    if (--portion->length == 0)
        turn_leave(&portion->turn);
    return portion;
}

/* Removes a job that is served, and resets the ages of its user and of its lane. */
static void leave_class_served(struct scheduler *scheduler, struct queued *queued, uint64_t now)
{
    struct portion *portion = leave_class(scheduler, queued);

    if (portion->length > 0)
        ring_renew(&scheduler->classes[queued->class], &portion->turn, now);
    leave_lane_first(queued, now);
}

void scheduler_push(struct scheduler *scheduler, struct lanes *lanes, struct queued *queued,
                    int priority, int max, uint64_t bytes, uint64_t now)
{
    queued->lanes = lanes;
    queued->cost = bytes > LANE_COST_MIN ? bytes : LANE_COST_MIN;
    enter_class(scheduler, queued, (priority < max ? priority : max) + 1, priority + 1, now);
}

void scheduler_remove(struct scheduler *scheduler, struct queued *queued)
{
    if (!queued->lane)
        return;
    leave_class(scheduler, queued);
    leave_lane(queued);
}

/* Choosing a job. */

static uint64_t lane_cost(struct turn *turn, const struct ring_rules *rules)
{
    (void)rules;
    return head_of(lane_of(turn))->cost;
}

static uint64_t lane_quantum(struct turn *turn, const struct ring_rules *rules)
{
    const struct scheduler *scheduler = rules->context;

    (void)turn;
    return scheduler->quantum;
}

/* Moves up jobs that wait for jobs of higher priority of the same user. Begins at the highest
 * priority, so that no job moves up twice. */
static void age_lanes(struct scheduler *scheduler, struct portion *portion, int class, uint64_t now)
{
    struct turn *turn;

    if (scheduler->ageing_ns == 0)
        return;
    for (int i = LANE_PRIORITIES - 1; i-- > 0;) {
        while (scheduler->ageing_left > 0 &&
               (turn = ring_overdue(&portion->rings[i], scheduler->ageing_ns, now))) {
            struct queued *first = head_of(lane_of(turn));

            scheduler->ageing_left--;
            leave_lane_first(first, now);
            enter_lane(first, class, i + 1, now);
        }
    }
}

/* Returns the next job of a portion. The deficit of the job's lane covers its cost. Another call
 * with the same `now` returns the same job, unless a job has entered or left the portion. */
static struct queued *next_of(struct scheduler *scheduler, struct portion *portion, uint64_t now)
{
    const struct ring_rules rules = {lane_cost, lane_quantum, scheduler, now, &scheduler->steps};
    struct turn *turn;
    int i = LANE_PRIORITIES - 1;

    age_lanes(scheduler, portion, (int)(portion - portion->share->portions), now);
    while (ring_empty(&portion->rings[i]))
        i--;
    turn = ring_choose(&portion->rings[i], &rules);
    return turn ? head_of(lane_of(turn)) : NULL;
}

static uint64_t portion_cost(struct turn *turn, const struct ring_rules *rules)
{
    const struct queued *next = next_of(rules->context, portion_of(turn), rules->now);

    return next ? next->cost : RING_COST_UNKNOWN;
}

static uint64_t portion_quantum(struct turn *turn, const struct ring_rules *rules)
{
    const struct scheduler *scheduler = rules->context;

    return scheduler->quantum * portion_of(turn)->share->weight;
}

/* Moves users' jobs to higher classes if they have waited long for jobs in these classes, as
 * age_lanes() does for the jobs of one user. */
static void age_classes(struct scheduler *scheduler, uint64_t now)
{
    struct turn *turn;

    if (scheduler->ageing_ns == 0)
        return;
    for (int i = LANE_PRIORITIES - 1; i-- > 0;) {
        while (scheduler->ageing_left > 0 &&
               (turn = ring_overdue(&scheduler->classes[i], scheduler->ageing_ns, now))) {
            struct queued *next = next_of(scheduler, portion_of(turn), now);
            int priority;

            if (!next)
                return;
            priority = next->priority > i + 1 ? next->priority : i + 1;
            scheduler->ageing_left -=
                scheduler->ageing_left > 0; /* next_of() may change the lanes' priorities by age */
            leave_class_served(scheduler, next, now);
            enter_class(scheduler, next, i + 1, priority, now);
        }
    }
}

/* Removes and charges a job. A backfilled job may cost more than the deficit of its user. */
static void serve(struct scheduler *scheduler, struct portion *portion, struct queued *queued,
                  uint64_t now)
{
    struct turn *turn = &portion->turn;

    turn->deficit -= queued->cost < turn->deficit ? queued->cost : turn->deficit;
    queued->lane->turn.deficit -= queued->cost;
    leave_class_served(scheduler, queued, now);
}

static void begin_call(struct scheduler *scheduler)
{
    scheduler->ageing_left = SCHEDULER_AGED_MAX;
    scheduler->steps = SCHEDULER_STEPS_MAX;
}

struct queued *scheduler_take(struct scheduler *scheduler, uint64_t now)
{
    const struct ring_rules rules = {portion_cost, portion_quantum, scheduler, now,
                                     &scheduler->steps};
    int i = LANE_PRIORITIES - 1;
    struct queued *queued;
    struct turn *turn;

    begin_call(scheduler);
    age_classes(scheduler, now);
    while (i >= 0 && ring_empty(&scheduler->classes[i]))
        i--;
    turn = i < 0 ? NULL : ring_choose(&scheduler->classes[i], &rules);
    scheduler->undecided = i >= 0 && !turn;
    if (!turn)
        return NULL;
    queued = next_of(scheduler, portion_of(turn), now);
    serve(scheduler, portion_of(turn), queued, now);
    return queued;
}

static struct queued *backfill_class(struct scheduler *scheduler, struct ring *ring,
                                     scheduler_fits *fits, const void *context, uint64_t now)
{
    const struct ring_rules rules = {portion_cost, portion_quantum, scheduler, now,
                                     &scheduler->steps};
    struct link *l = ring->turns.next;

    for (int i = 0; i < SCHEDULER_BACKFILL_USERS && l != &ring->turns; i++, l = l->next) {
        struct portion *portion = portion_of(LINK_OWNER(l, struct turn, in_turns));
        struct queued *queued = next_of(scheduler, portion, now);

        if (!queued || !fits(queued, context))
            continue;
        catch_up(ring, &portion->turn, &rules);
        serve(scheduler, portion, queued, now);
        if (portion->length > 0)
            ring_pass(ring, &portion->turn);
        return queued;
    }
    return NULL;
}

struct queued *scheduler_backfill(struct scheduler *scheduler, scheduler_fits *fits,
                                  const void *context, uint64_t now)
{
    struct queued *queued = NULL;

    begin_call(scheduler);
    for (int i = LANE_PRIORITIES; i-- > 0 && !queued;)
        queued = backfill_class(scheduler, &scheduler->classes[i], fits, context, now);
    return queued;
}
