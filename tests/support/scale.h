/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs fewer cases on request: MLI_TEST_PERCENT, 1 to 100 (default: 100), is the percentage of the
 * usual cases. scripts/check and the instrumented runs of scripts/test set it. */
#ifndef TEST_SCALE_H
#define TEST_SCALE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/support/rng.h"

static inline unsigned scale_percent(void)
{
    const char *text = getenv("MLI_TEST_PERCENT");
    const unsigned long percent = text ? strtoul(text, NULL, 10) : 100;

    return percent >= 1 && percent <= 100 ? (unsigned)percent : 100;
}

/* Returns the number of random cases to run, at least 1. */
static inline uint64_t scaled(uint64_t usual)
{
    return (usual * scale_percent() + 99) / 100;
}

/* Returns whether case `index` of a sweep is to run; with another seed, other cases run. */
static inline bool sampled(uint64_t seed, uint64_t index)
{
    struct rng rng = rng_for_case(seed, index);

    return rng_below(&rng, 100) < scale_percent();
}

#endif /* TEST_SCALE_H */
