/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The estimated time of a plan. It serves to compare plans before their jobs are placed in a
 * schedule (tile_choice.h):
 *
 *     transfer = start + descriptors * (descriptor + latency) + rows * (row + bursts of a row *
 *                burst + beats of a row * beat)
 *     kernels  = tiles * call + results * compute
 *     plan     = the largest of
 *                    all transfers / channels                  the channels are busy
 *                    beats and bursts of all transfers         the bus is busy
 *                    kernels + transfers of tensors with one buffer, which no kernel overlaps
 *                    (kernels + transfers of a tensor) / its buffers    its buffers are in use
 *                and the first loads, the last store or the last kernel, which nothing overlaps
 *
 * A descriptor moves the rows of as many dimensions as the controller has loops, within its limits.
 */
#pragma once

#include "target/tile/tile_plan.h"

/* The number of transfers of an operand, as the loops of a plan determine it. */
struct tile_loops {
    uint64_t changes; /* number of tiles that are loaded or stored */
    uint64_t reloads; /* number of times that each tile of the operand is loaded */
    bool held;        /* the innermost loop of more than one tile does not change the tile */
};

/* Times of all transfers of an operand together, in PROFILE_CYCLE. */
struct tile_moving {
    double time; /* time on the channels */
    double data; /* time on the bus, which the channels share */
};

/**
 * Returns a time rounded down to 6 binary digits, at most 3 percent less. Of plans whose estimates
 * differ less than that, those with less traffic and fewer tiles are better.
 */
static inline profile_cost tile_estimate_round(profile_cost time)
{
    const int digits = time > 0 ? 64 - __builtin_clzll(time) : 0;

    return digits > 6 ? time >> (digits - 6) << (digits - 6) : time;
}

/** Compares the first figures that differ, as strcmp() does. */
static inline int tile_compare(const uint64_t *left, const uint64_t *right, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}

/** Returns how often the loops of a plan load or store the tiles of an operand. */
struct tile_loops tile_loops_of(const struct tile_plan *plan, uint32_t operand);

/** Returns the estimated time of a plan, whose loops are given. */
profile_cost tile_estimate_time(const struct tile_estimate *estimate, const struct tile_plan *plan,
                                const struct tile_loops loops[TILE_OPERANDS]);

/** Returns the estimated time of a plan if the times of its transfers are known already. */
profile_cost tile_estimate_moving(const struct tile_estimate *estimate,
                                  const struct tile_plan *plan,
                                  const struct tile_loops loops[TILE_OPERANDS],
                                  const struct tile_moving moving[TILE_OPERANDS]);
