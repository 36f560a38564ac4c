/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures each leaf, compared with a memcpy of the same number of bytes. */
#ifndef TEST_LEAF_BENCH_H
#define TEST_LEAF_BENCH_H

#include "libmli/src/exec/leaf.h"

/* Prints a table. Returns 0, or -1 if the system has no memory. */
int bench_leaves(const char *level, const struct leaf_table *leaf);

#endif /* TEST_LEAF_BENCH_H */
