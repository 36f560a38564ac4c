/* SPDX-License-Identifier: BSD-3-Clause */
/* The goals, each with "holds" or "missed" and the figures. */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include "bench/moves/bench_result.h"
#include "bench/moves/levels.h"
#include "bench/moves/small_call.h"

/* Prints each goal with its verdict. `calls` and `levels` may be null if not measured. */
void verdict_print(const struct result_list *list, const struct calls *calls,
                   const struct levels *levels);

#endif
