/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory out of all caches. */
#ifndef BENCH_EVICT_H
#define BENCH_EVICT_H

#include <stddef.h>

/* How it is done here: "clflushopt", "clflush" or "sweep". Call it first. */
const char *evict_init(void);

void evict(const void *from, size_t bytes);

#endif
