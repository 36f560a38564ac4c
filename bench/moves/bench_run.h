/* SPDX-License-Identifier: BSD-3-Clause */
/* All cells, one after the other. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "bench/moves/bench_options.h"
#include "bench/moves/bench_result.h"

/* Appends the cells of one size to list->at, which has room. Returns how many had wrong bytes or
 * were refused, each reported on stderr. */
int run_size(const struct options *o, const struct case_list *cases, struct memory *memory,
             uint32_t kib, struct result_list *list);

#endif
