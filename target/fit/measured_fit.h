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

#endif /* TARGET_MEASURED_FIT_H */
