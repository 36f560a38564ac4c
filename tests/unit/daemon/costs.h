/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures an operation on a small and on a large structure. An operation that walks the structure
 * costs about as many times more as the structure is larger; cache misses alone cost a few times.
 */
#ifndef TEST_COSTS_H
#define TEST_COSTS_H

/* Runs the operation some thousand times. */
typedef void cost_round(void *context);

/** Returns the processor time of the fastest of several rounds, in nanoseconds. */
double cost_of(cost_round *round, void *context);

/*
 * An upper bound on the ratio of the costs of two structures whose sizes are a factor of 64 to 1024
 * apart.
 */
#define COST_RATIO_MAX 16.0

#endif /* TEST_COSTS_H */
