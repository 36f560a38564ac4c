/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each leaf takes, compared with a memcpy of the same bytes. */
#ifndef TEST_LEAF_BENCH_H
#define TEST_LEAF_BENCH_H

#include "libmli/src/exec/leaf.h"

/* Prints a table. 0, or -1 when the system gives no memory. */
int bench_leaves(const char *level, const struct leaf_table *leaf);

#endif /* TEST_LEAF_BENCH_H */
