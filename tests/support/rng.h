/* SPDX-License-Identifier: BSD-3-Clause */
/* Small deterministic random numbers (splitmix64): one seed gives one case on every machine. */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/*
 * Returns the generator of case `index` for `seed`. The numbers of neighbouring cases are
 * unrelated.
 */
static inline struct rng rng_for_case(uint64_t seed, uint64_t index)
{
    struct rng r = {seed};

    r.state = rng_next(&r) ^ (index * UINT64_C(0xD1342543DE82EF95));
    (void)rng_next(&r);
    return r;
}

/* Returns a number from 0 to n-1; n is at least 1. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

/* Returns a number from lo to hi, both included. */
static inline uint32_t rng_between(struct rng *r, uint32_t lo, uint32_t hi)
{
    return lo + rng_below(r, hi - lo + 1);
}

static inline bool rng_chance(struct rng *r, uint32_t percent)
{
    return rng_below(r, 100) < percent;
}

static inline void rng_fill(struct rng *r, void *at, size_t bytes)
{
    uint8_t *p = at;

    for (size_t i = 0; i < bytes;) {
        uint64_t v = rng_next(r);

        for (int k = 0; k < 8 && i < bytes; k++, i++, v >>= 8)
            p[i] = (uint8_t)v;
    }
}

#endif /* TEST_RNG_H */
