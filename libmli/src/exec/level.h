/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Levels of leaf kernels: plain C, and the instruction sets that the processor has. Each level puts
 * its own kernels into the table of the levels below it, and calls theirs for other arguments.
 *
 * To add a level, start here: write a file that defines its function, add a bit to
 * mli_helpers_api.h, and a line to the table in level.c.
 */
#ifndef MLI_EXEC_LEVEL_H
#define MLI_EXEC_LEVEL_H

#include "libmli/src/exec/leaf.h"

#if defined(__x86_64__) && !defined(MLI_NO_SIMD) && !defined(MLI_NO_AVX2)
#define LEVEL_HAS_X86 1
void level_avx2(struct leaf_table *table);
#else
#define LEVEL_HAS_X86 0
#endif

#if LEVEL_HAS_X86 && !defined(MLI_NO_AVX512)
#define LEVEL_HAS_AVX512 1
void level_avx512(struct leaf_table *table);
#else
#define LEVEL_HAS_AVX512 0
#endif

#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(MLI_NO_SIMD) &&  \
    !defined(MLI_NO_NEON)
#define LEVEL_HAS_NEON 1
void level_neon(struct leaf_table *table);
#else
#define LEVEL_HAS_NEON 0
#endif

/* 1 if a level has kernels whose stores bypass the caches. */
#define LEVEL_STREAMS LEVEL_HAS_X86

/* 1 if plain C is the only level, and there is no environment that could change the tuning. */
#define LEVEL_ONLY_C (!LEVEL_HAS_X86 && !LEVEL_HAS_NEON && !__STDC_HOSTED__)

/** Returns the kernels to use. Any thread. */
const struct leaf_table *level_leaf(void);

#endif /* MLI_EXEC_LEVEL_H */
