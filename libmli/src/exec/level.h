/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Levels of leaf kernels: plain C, and above it what the processor at hand has. Each level puts its
 * own kernels into the table of the levels below it, and calls those where it has none.
 *
 * To add a level: a file that defines its function, a bit in mli_helpers_api.h, and a line in the
 * table in level.c.
 */
#ifndef MLI_EXEC_LEVEL_H
#define MLI_EXEC_LEVEL_H

#include "libmli/src/exec/leaf.h"

#if defined(__x86_64__) && !defined(MLI_NO_SIMD)
#define LEVEL_HAS_X86 1
void level_avx2(struct leaf_table *table);
void level_avx512(struct leaf_table *table);
#else
#define LEVEL_HAS_X86 0
#endif

#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(MLI_NO_SIMD)
#define LEVEL_HAS_NEON 1
void level_neon(struct leaf_table *table);
#else
#define LEVEL_HAS_NEON 0
#endif

/* Has one of them kernels that write past the caches? */
#define LEVEL_STREAMS LEVEL_HAS_X86

/** The kernels to use. Any thread. */
const struct leaf_table *level_leaf(void);

/** Destinations of so many bytes and more go past the caches. Any thread. */
size_t level_stream_min(void);

#endif /* MLI_EXEC_LEVEL_H */
