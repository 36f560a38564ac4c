/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rows of few columns, for skinny_avx2.c. */
#ifndef MLI_EXEC_X86_INTERLEAVE_AVX2_H
#define MLI_EXEC_X86_INTERLEAVE_AVX2_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void interleave_avx2_init(void);

/**
 * leaf_transpose of elements of 2^size_log bytes to packed rows: 2 columns or more and less than 16
 * bytes of them, 16 bytes of rows or more.
 */
void interleave_avx2(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                     size_t rows, size_t cols);

#endif /* MLI_EXEC_X86_INTERLEAVE_AVX2_H */
