/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fits the costs of a target profile to measured moves, and the head of this folder:
 *
 *     measured moves -> measured_fit.c  the costs of a processor: the formula first, then the trees
 *                    -> formula_fit.c   the figures of the cost model, for a DMA controller
 *                         -> relative_fit.c  unknowns that fit a sum to measurements, for both
 */
#pragma once

#include <stddef.h>

#include "mli_plan.h"
#include "target/profile/target_profile.h"

#define FIT_CYCLES_MAX 1e8 /* the largest value that a fit gives a figure, in cycles */

/* A measured move. */
struct measured_move {
    struct mli_plan plan;
    double cycles;
};

/**
 * Sets *costs to the costs that fit the moves best. Classes with too few moves are absent; class
 * long-rows is always present. Returns 0, or -1 if memory is short.
 */
int measured_fit(struct measured_costs *costs, const struct measured_move *moves, size_t count);

/*
 * The fit to the cost model (target/cost/cost.h) finds start, descriptor, row, burst and beat. The
 * other figures keep their values. A measurement contains the sum of `start` and `finish` only:
 * `start` becomes the sum.
 */

/* The fitted figures: the first ones of profile_cost_members, in their order. */
enum formula_figure {
    FORMULA_START,
    FORMULA_DESCRIPTOR,
    FORMULA_ROW,
    FORMULA_BURST,
    FORMULA_BEAT,
    FORMULA_FIGURES
};

/**
 * Returns the cost of a plan by the cost model, on one channel, with source and destination in
 * `memory`.
 */
double formula_cycles(const struct target_profile *profile, const struct profile_memory *memory,
                      const struct mli_plan *plan);

/**
 * Changes profile->costs to the figures that fit the moves best, and sets error[] to the standard
 * error of each figure in cycles. Returns 0, or -1 if memory is short.
 */
int formula_fit(struct target_profile *profile, const struct profile_memory *memory,
                const struct measured_move *moves, size_t count, double error[FORMULA_FIGURES]);

/*
 * Fits non-negative unknowns to measured values: value = sum of factor * unknown. The fit
 * minimises the relative errors of the values. Outliers count less: their weight is reduced in
 * several passes.
 */

enum { RELATIVE_FIT_MAX = 64 }; /* largest number of unknowns */

struct relative_fit {
    size_t unknowns, samples;
    const double *factors; /* the factors of sample i are at factors[i * unknowns] */
    const double *values;  /* positive value of each sample */
};

/**
 * Sets unknown[0 .. unknowns) of a fit. An unknown becomes 0 if all its factors are 0, or if there
 * are no samples.
 */
void relative_fit(const struct relative_fit *fit, double *unknown);
