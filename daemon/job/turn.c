/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/turn.h"

#include <stddef.h>

void turn_init(struct turn *turn)
{
    *turn = (struct turn){.deficit = 0};
    link_init(&turn->in_turns);
    link_init(&turn->in_ages);
}

void ring_init(struct ring *ring)
{
    link_init(&ring->turns);
    link_init(&ring->ages);
}

/* Turns until the deficit covers the next job. */
static uint64_t turns_missing(struct turn *turn, const struct ring_rules *rules)
{
    const uint64_t cost = rules->cost(turn, rules), quantum = rules->quantum(turn, rules);

    return cost > turn->deficit ? (cost - turn->deficit + quantum - 1) / quantum : 0;
}

/*
 * Called after a round in which no member could start anything: jobs of many quanta would need as
 * many rounds. Grants all but the last of these rounds at once.
 */
static void skip_rounds(struct ring *ring, const struct ring_rules *rules)
{
    uint64_t fewest = UINT64_MAX;

    for (struct link *l = ring->turns.next; l != &ring->turns; l = l->next) {
        const uint64_t rounds = turns_missing(LINK_OWNER(l, struct turn, in_turns), rules);

        if (rounds < fewest)
            fewest = rounds;
    }
    for (struct link *l = ring->turns.next; fewest > 1 && l != &ring->turns; l = l->next) {
        struct turn *turn = LINK_OWNER(l, struct turn, in_turns);

        turn->deficit += (fewest - 1) * rules->quantum(turn, rules);
    }
}

struct turn *ring_choose(struct ring *ring, const struct ring_rules *rules)
{
    struct turn *first = NULL; /* of those that were passed over */

    for (;;) {
        struct turn *turn = LINK_OWNER(ring->turns.next, struct turn, in_turns);

        if (!turn->granted) {
            if (turn == first)
                skip_rounds(ring, rules);
            turn->granted = true;
            turn->deficit += rules->quantum(turn, rules);
        }
        if (turn->deficit >= rules->cost(turn, rules))
            return turn;
        ring_pass(ring, turn);
        if (!first)
            first = turn;
    }
}
