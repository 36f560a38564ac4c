/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a move on a processor, from the costs that mlictl calibrate has measured:
 *
 *     formula = sum of figure * its number + sum of figure of the footprint * its number
 *     time    = formula * factor of each tree
 *
 * Figures of a footprint between two of the profile's footprints are interpolated by the logarithm.
 */
#ifndef TARGET_MEASURED_COST_H
#define TARGET_MEASURED_COST_H

#include "target/cost/move_numbers.h"

/* The parts of a time, in cycles. */
struct measured_time {
    double start, calls, rows, read, written; /* the factor is included */
    double total;
    double factor; /* of all trees */
    enum move_class class;
};

/* The weights of two neighbouring footprints; the sum is 1. */
struct footprint_weights {
    uint32_t first; /* the second is first + 1 */
    double of_first, of_second;
};

/** Returns the weights for a footprint in bytes. */
struct footprint_weights measured_weights(const struct measured_costs *costs, double footprint);

/** Computes the time by the formula alone. */
void measured_formula(struct measured_time *time, const struct measured_costs *costs,
                      const struct move_numbers *numbers);

/** Returns the logarithm of the factor of a tree for a move. */
double measured_tree(const struct measured_costs *costs, uint32_t tree,
                     const struct move_numbers *numbers);

/** Computes the time of a plan. */
void measured_time(struct measured_time *time, const struct measured_costs *costs,
                   const struct mli_plan *plan);

#endif /* TARGET_MEASURED_COST_H */
