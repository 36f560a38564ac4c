/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures an operation on a small and on a large structure. If the operation walks the structure,
 * the ratio of the costs is about that of the sizes; cache misses alone make a ratio of only a few.
 */
#ifndef TEST_COSTS_H
#define TEST_COSTS_H

/* Runs the operation some thousand times. */
typedef void cost_round(void *context);

/** Returns the processor time of the fastest of several rounds, in nanoseconds. */
double cost_of(cost_round *round, void *context);

/*
 * An upper bound on the ratio of the costs for two structures, one 64 to 1024 times as large as the
 * other.
 */
#define COST_RATIO_MAX 16.0

#endif /* TEST_COSTS_H */
