/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers (splitmix64), determined by a seed and an index on every machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t state;
};

static inline uint64_t draw_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline struct draw draw_init(uint64_t seed, uint64_t index)
{
    return (struct draw){draw_mix(seed + UINT64_C(0x9E3779B97F4A7C15)) ^ draw_mix(~index)};
}

static inline uint64_t draw_next(struct draw *draw)
{
    return draw_mix(draw->state += UINT64_C(0x9E3779B97F4A7C15));
}

/* Returns 0 .. count - 1; 0 if the count is 0. */
static inline uint32_t draw_below(struct draw *draw, uint64_t count)
{
    const uint64_t number = draw_next(draw);

    return count > 1 ? (uint32_t)(number % count) : 0;
}

/* Returns lo .. hi, both included. */
static inline uint32_t draw_between(struct draw *draw, uint32_t lo, uint32_t hi)
{
    return lo + draw_below(draw, (uint64_t)hi - lo + 1);
}

/* Returns true in `percent` of 100 calls. */
static inline bool draw_percent(struct draw *draw, uint32_t percent)
{
    return draw_below(draw, 100) < percent;
}

/* Returns true in one of `times` calls. */
static inline bool draw_once_in(struct draw *draw, uint32_t times)
{
    return draw_below(draw, times) == 0;
}

/* Returns 1 .. max, all orders of magnitude with equal probability. */
static inline uint32_t draw_magnitude(struct draw *draw, uint64_t max)
{
    const uint32_t bits = 64 - (uint32_t)__builtin_clzll(max);
    const uint64_t bound = UINT64_C(1) << (1 + draw_below(draw, bits));

    return 1 + draw_below(draw, bound - 1 < max ? bound - 1 : max);
}
