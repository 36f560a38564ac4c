/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures all cells of the plan. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "bench/moves/bench_options.h"
#include "bench/moves/tuned.h"

/* Appends the cells of one size to list->at, which has room. `tuned` is measured, too, unless it is
 * null. Returns the number of cells with wrong bytes or refused moves, and reports each on stderr.
 */
int run_size(const struct options *o, const struct tuned *tuned, const struct case_list *cases,
             struct memory *memory, uint32_t kib, struct result_list *list);

#endif
