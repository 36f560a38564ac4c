/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls to test: a sweep over all small shapes, and random shapes. A case is a function of seed
 * and index alone; indices of random cases begin at CASES_RANDOM.
 */
#ifndef TEST_LEAF_CASES_H
#define TEST_LEAF_CASES_H

#include "tests/leaf/ground.h"

#define CASES_RANDOM UINT64_C(1000000000)

/* Visits a case that is not placed in memory yet. Returns false to end the enumeration. */
typedef bool cases_visitor(void *context, uint64_t index, const struct site *site);

/* Visits all small shapes, with several steps and places each. Returns the number of visits. */
uint64_t cases_sweep(uint64_t seed, cases_visitor *visit, void *context);

/* Returns random case number `index`; the number must be at least CASES_RANDOM. */
struct site cases_random(uint64_t seed, uint64_t index);

#endif /* TEST_LEAF_CASES_H */
