/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes with a side of less than 16 bytes, for leaf_avx2.c. */
#ifndef MLI_EXEC_X86_SKINNY_AVX2_H
#define MLI_EXEC_X86_SKINNY_AVX2_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void skinny_avx2_init(void);

/** leaf_transpose of elements of 2^size_log bytes, with few rows or with few columns. */
void skinny_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols);

#endif /* MLI_EXEC_X86_SKINNY_AVX2_H */
