/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls are tried: a sweep over all small shapes, and random ones. Each is a function of seed
 * and index alone; the random ones are counted from CASES_RANDOM on.
 */
#ifndef TEST_LEAF_CASES_H
#define TEST_LEAF_CASES_H

#include "tests/leaf/ground.h"

#define CASES_RANDOM UINT64_C(1000000000)

/* What is done with a case; false ends the enumeration. The site is not placed yet. */
typedef bool cases_visitor(void *context, uint64_t index, const struct site *site);

/* All small shapes, in several steps and places each. How often it visited. */
uint64_t cases_sweep(uint64_t seed, cases_visitor *visit, void *context);

/* The one of this index, which is CASES_RANDOM or above. */
struct site cases_random(uint64_t seed, uint64_t index);

#endif /* TEST_LEAF_CASES_H */
