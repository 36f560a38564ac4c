/* SPDX-License-Identifier: BSD-3-Clause */
/* A plot of the listed cases: a panel for each size, ours against the best peer. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "bench/moves/bench_options.h"
#include "bench/moves/bench_result.h"

/* Returns 0, or -1 after a message. */
int svg_write(const struct result_list *list, const struct options *o, const char *path);

#endif
