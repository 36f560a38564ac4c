/* SPDX-License-Identifier: BSD-3-Clause */
/* Evicts memory from all caches. */
#ifndef BENCH_EVICT_H
#define BENCH_EVICT_H

#include <stddef.h>

/* Chooses the method of this machine and returns its name: "clflushopt", "clflush" or "sweep". Call
 * it first. */
const char *evict_init(void);

void evict(const void *from, size_t bytes);

#endif
