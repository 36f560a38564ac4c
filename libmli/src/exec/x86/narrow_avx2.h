/* SPDX-License-Identifier: BSD-3-Clause */
/* Few rows of many columns, for skinny_avx2.c. */
#ifndef MLI_EXEC_X86_NARROW_AVX2_H
#define MLI_EXEC_X86_NARROW_AVX2_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void narrow_avx2_init(void);

/**
 * leaf_transpose of elements of 2^size_log bytes: 2 rows or more and less than 16 bytes of them, 16
 * bytes of columns or more. What lies between columns is read.
 */
void narrow_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols);

#endif /* MLI_EXEC_X86_NARROW_AVX2_H */
