/* SPDX-License-Identifier: BSD-3-Clause */
/* Few rows of many columns, for thin_avx2.c. */
#ifndef MLI_EXEC_X86_NARROW_AVX2_H
#define MLI_EXEC_X86_NARROW_AVX2_H

#include "../leaf.h"

/*
 * Transposes 32 bytes of each row, then the next 32, `tiles` times. Reads up to 14 bytes past the
 * last column where columns are packed, and else 16 bytes of each column.
 */
typedef void narrow_kernel(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                           size_t src_step, size_t rows, size_t tiles);

/** Before the first use. */
void narrow_avx2_init(void);

/** For so many rows of less than 16 bytes a column, 2 at least. */
narrow_kernel *narrow_avx2(uint32_t size_log, size_t src_step, size_t rows);

#endif /* MLI_EXEC_X86_NARROW_AVX2_H */
