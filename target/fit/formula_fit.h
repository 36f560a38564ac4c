/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fits the figures of the cost model (target/cost/cost.h) to measured moves of a DMA controller:
 * start, descriptor, row, burst and beat. The other figures keep their values. A measurement
 * contains the sum of `start` and `finish` only: `start` becomes the sum.
 */
#ifndef TARGET_FORMULA_FIT_H
#define TARGET_FORMULA_FIT_H

#include "target/fit/measured_fit.h"
#include "target/profile/target_profile.h"

/* X(member): the fitted members of struct profile_costs. */
#define FORMULA_FIGURE_TABLE(X) X(start) X(descriptor) X(row) X(burst) X(beat)

enum formula_figure {
#define FORMULA_FIGURE_ENUM(member) FORMULA_##member,
    FORMULA_FIGURE_TABLE(FORMULA_FIGURE_ENUM)
#undef FORMULA_FIGURE_ENUM
        FORMULA_FIGURES
};

extern const char *const formula_figure_keys[];

/** Returns the cost of a plan on one channel by the cost model, from and to `memory`. */
double formula_cycles(const struct target_profile *profile, const struct profile_memory *memory,
                      const struct mli_plan *plan);

/**
 * Changes profile->costs to the figures that fit the moves best, and sets error[] to the standard
 * error of each figure in cycles. Returns 0, or -1 if memory is short.
 */
int formula_fit(struct target_profile *profile, const struct profile_memory *memory,
                const struct measured_move *moves, size_t count, double error[FORMULA_FIGURES]);

#endif /* TARGET_FORMULA_FIT_H */
