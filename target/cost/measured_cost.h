/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a move on a processor, from the costs that mlictl calibrate has measured:
 *
 *     formula = sum of cost * number, for each kind of cost (calls, rows, bytes read and written)
 *     time    = formula * the factors that the decision trees give
 *
 * Some costs depend on the footprint, which is the number of bytes that the move touches. Between
 * two footprints of the profile, the logarithm of a cost is interpolated.
 */
#pragma once

#include "mli_plan.h"
#include "target/profile/measured_costs.h"

/*
 * A plan in numbers, for the costs of a processor (target/profile/measured_costs.h): what the plan
 * asks of the caches, and which kernel of libmli moves it. All numbers follow from the plan;
 * nothing is measured or accessed. docs/profiles.md has the meaning of each number.
 *
 *   line       an aligned block of 64 bytes; page: of 4096 bytes
 *   read       lines that the rows of the source touch; a line counts for each row
 *   read_lines different lines of the source
 *   call       a call of the kernel, for the innermost loop or loops
 *   store      a store of 64 bytes or less
 *
 * The classes of moves follow libmli's choice of a kernel from the geometry of the copy box:
 *
 *   zeros        more than half of the bytes are zeros
 *   row          one contiguous run
 *   *-rows       runs that are apart: of at most 16, of at most 64, or of more bytes
 *   gather-E     elements of E bytes that are apart in the source and contiguous in the destination
 *   transpose-E  as gather, where another loop of the elements is contiguous in the source
 */

struct move_numbers {
    enum move_class class;
    double figure[MEASURED_FIGURES]; /* figure[i]: the number by which cost i is multiplied; 1 for
                                        START */
    double level[MEASURED_LEVELS];   /* factors of the figures that depend on the footprint */
    double number[MOVE_NUMBERS];     /* numbers that decision trees compare; FORMULA is 0 */
};

/** Fills struct move_numbers for a plan. */
void move_numbers(struct move_numbers *numbers, const struct mli_plan *plan);

/* The parts of a time, in cycles. */
struct measured_time {
    double start, calls, rows, read, written; /* each already multiplied by `factor` */
    double total;
    double factor; /* product of the factors of all decision trees */
    enum move_class class;
};

/* The weights of two neighbouring footprints; the sum is 1. */
struct footprint_weights {
    uint32_t first; /* index of the first footprint; the second is first + 1 */
    double of_first, of_second;
};

/** Returns the weights of the costs for a move that touches `footprint` bytes. */
struct footprint_weights measured_weights(const struct measured_costs *costs, double footprint);

/** Computes the time by the formula alone. */
void measured_formula(struct measured_time *time, const struct measured_costs *costs,
                      const struct move_numbers *numbers);

/** Computes the time of a plan. */
void measured_time(struct measured_time *time, const struct measured_costs *costs,
                   const struct mli_plan *plan);
