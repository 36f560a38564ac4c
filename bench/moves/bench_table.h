/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints tables on stdout. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/moves/bench_options.h"
#include "bench/moves/bench_result.h"

void table_header(const struct options *o, const struct peer_list *peers, const char *eviction);
void table_size(const struct result_list *list, const struct options *o, uint32_t kib);

/* Prints the percentage of samples that other processes interrupted. */
void table_noise(const struct result_list *list);

#endif
