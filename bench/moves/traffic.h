/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory traffic that every implementation of a move needs: a bound on its ratio to memcpy. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/moves/bench_cases.h"

/*
 * Cache lines that have to be moved, as a multiple of what memcpy moves with plain stores: each
 * line of the source that holds a wanted byte is read, each line of the destination is read and
 * written back; `streamed`: only written. Returns 0 if there is no memory to count them.
 */
double traffic_bound(const struct bench_case *c, uint32_t elem, size_t wanted, bool streamed);

#endif
