/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that a seed and an index determine: splitmix64. */
#ifndef CLI_SELFTEST_DRAW_H
#define CLI_SELFTEST_DRAW_H

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

/* One of 0 .. count - 1; 0 where there is no choice. */
static inline uint32_t draw_below(struct draw *draw, uint64_t count)
{
    const uint64_t number = draw_next(draw);
    return count > 1 ? (uint32_t)(number % count) : 0;
}

/* True once in `times` times. */
static inline bool draw_once_in(struct draw *draw, uint32_t times)
{
    return draw_below(draw, times) == 0;
}

/* From 1 to max, every order of magnitude as often as any other. */
static inline uint32_t draw_magnitude(struct draw *draw, uint64_t max)
{
    const uint32_t bits = 64 - (uint32_t)__builtin_clzll(max);
    const uint64_t bound = UINT64_C(1) << (1 + draw_below(draw, bits));
    return 1 + draw_below(draw, bound - 1 < max ? bound - 1 : max);
}

#endif /* CLI_SELFTEST_DRAW_H */
