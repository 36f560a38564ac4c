/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory traffic that every implementation of a move needs: a bound on its ratio to memcpy. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/moves/bench_cases.h"

/*
 * Returns the number of cache lines that every implementation must transfer, relative to memcpy
 * with plain stores. An implementation reads each line of the source that has a needed byte, and
 * reads and writes back each line of the destination. With `streamed`, it only writes the lines of
 * the destination. Returns 0 if out of memory.
 */
double traffic_bound(const struct bench_case *c, uint32_t elem, size_t wanted, bool streamed);

#endif
