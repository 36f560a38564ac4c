/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/explain/random_hand.h"

static uint32_t few(struct rng *rng, uint32_t most)
{
    return rng_chance(rng, 50) ? 0 : rng_between(rng, 0, most);
}

static void random_axis(struct rng *rng, uint32_t most, uint32_t d, struct hand *hand)
{
    hand->shape[d] = rng_between(rng, 1, most);
    hand->pre[d] = few(rng, 3);
    hand->post[d] = few(rng, 3);
    uint32_t padded = hand->shape[d] + hand->pre[d] + hand->post[d];
    hand->offset[d] = rng_chance(rng, 50) ? 0 : rng_below(rng, padded);
    hand->size[d] = rng_chance(rng, 40) ? 0 : rng_between(rng, 1, padded - hand->offset[d]);
    hand->step[d] = rng_chance(rng, 60) ? 1 : rng_between(rng, 1, padded);
}

static uint32_t count_of(const struct hand *hand, uint32_t d)
{
    uint32_t padded = hand->shape[d] + hand->pre[d] + hand->post[d];
    uint32_t size = hand->size[d] ? hand->size[d] : padded - hand->offset[d];
    return (size + hand->step[d] - 1) / hand->step[d];
}

static void random_perm(struct rng *rng, struct hand *hand)
{
    for (uint32_t i = 0; i < hand->rank; i++)
        hand->perm[i] = i;
    for (uint32_t i = hand->rank; rng_chance(rng, 70) && i-- > 1;) {
        uint32_t other = rng_below(rng, i + 1), kept = hand->perm[i];
        hand->perm[i] = hand->perm[other];
        hand->perm[other] = kept;
    }
}

static void random_place(struct rng *rng, struct hand *hand)
{
    bool update = rng_chance(rng, 40), gaps = rng_chance(rng, 40);
    uint64_t stride = 1;
    for (uint32_t i = hand->rank; i-- > 0;) {
        uint32_t end = count_of(hand, hand->perm[i]);
        hand->at[i] = few(rng, 3);
        end += hand->at[i];
        hand->whole[i] = update ? end + few(rng, 3) : 0;
        if (gaps)
            hand->stride[i] = stride;
        stride *= (update ? hand->whole[i] : end) + (gaps ? few(rng, 3) : 0);
    }
}

void random_hand(struct rng *rng, uint32_t most, struct hand *hand)
{
    *hand = (struct hand){.rank = rng_between(rng, 1, 4), .elem = 1};
    for (uint32_t d = 0; d < hand->rank; d++)
        random_axis(rng, most, d, hand);
    random_perm(rng, hand);
    random_place(rng, hand);
    hand->axis = (int)rng_below(rng, hand->rank + 1);
}
