/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits the costs of a processor to measured moves: the formula first, then the trees. */
#ifndef TARGET_MEASURED_FIT_H
#define TARGET_MEASURED_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "mli_plan.h"
#include "target/profile/measured_costs.h"

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
 * Grows the trees of struct measured_costs by gradient boosting: each tree corrects a part of the
 * error that the trees before it have left. A tree grows at the end with the largest gain until it
 * has enough ends. Large errors count less, so that outliers do not bend the trees.
 */

struct tree_samples {
    size_t count;
    const float *numbers; /* of sample i: numbers[i * MOVE_NUMBERS ..] */
    const float *errors;  /* logarithm of measured time / time by the formula; of sample i */
};

struct tree_rules {
    uint32_t trees, ends; /* number of trees, and of ends of each tree */
    uint32_t least;       /* least number of samples of an end */
    double rate;          /* part of the error that a tree corrects */
};

/**
 * Replaces the trees of `costs` by new ones. Grows fewer trees if there are too few samples or if
 * the array of nodes is full. Returns 0, or -1 if memory is short; then `costs` has no trees.
 */
int tree_fit(struct measured_costs *costs, const struct tree_samples *samples,
             const struct tree_rules *rules);

#endif /* TARGET_MEASURED_FIT_H */
