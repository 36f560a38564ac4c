/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the listed cases: a panel for each size, our times against the best peer. */
#ifndef BENCH_SVG_H
#define BENCH_SVG_H

#include "bench/moves/bench_options.h"
#include "bench/moves/bench_result.h"

/* Writes the plot. Returns 0, or -1 after a message. */
int svg_write(const struct result_list *list, const struct options *o, const char *path);

#endif
