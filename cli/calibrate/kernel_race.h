/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times a move with several tunings. All tunings are sampled in turns, at several places in memory;
 * the result is the shortest time of each. The caches are warm: untimed moves with the same tuning
 * and the same memory precede each sample, so that a sample finds the caches as its own tuning
 * leaves them.
 */
#ifndef CLI_KERNEL_RACE_H
#define CLI_KERNEL_RACE_H

#include "cli/calibrate/kernel_moves.h"
#include "mli_tuning.h"

enum { KERNEL_VARIANTS = 8, KERNEL_PASSES_MIN = 3 };

/* A move, and its shortest time with each variant of the tuning. */
struct kernel_cell {
    struct kernel_move move;
    size_t variants;
    uint64_t least_ns[KERNEL_VARIANTS]; /* for `repeat` moves */
    uint32_t repeat;                    /* moves in a sample; 0: not measured yet */
    uint32_t passes;                    /* samples of each variant */
};

/**
 * Takes a sample of each variant at another place. Returns 0, or -1 if a move or a tuning is
 * refused (mli_last_error()).
 */
int kernel_cell_pass(struct kernel_cell *cell, const mli_tuning *variants,
                     struct kernel_memory *memory);

/** Returns whether the cell has enough samples. */
bool kernel_cell_is_measured(const struct kernel_cell *cell);

/** Returns the time with `variant` divided by the time with variant 0. */
double kernel_cell_ratio(const struct kernel_cell *cell, size_t variant);

#endif /* CLI_KERNEL_RACE_H */
