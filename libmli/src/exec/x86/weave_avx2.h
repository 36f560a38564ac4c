/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rows of few columns, for thin_avx2.c. */
#ifndef MLI_EXEC_X86_WEAVE_AVX2_H
#define MLI_EXEC_X86_WEAVE_AVX2_H

#include "../leaf.h"

/*
 * Transposes 32 bytes of each column, then the next 32, `tiles` times, to packed rows. Writes up to
 * 14 bytes past the last row.
 */
typedef void weave_kernel(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                          size_t cols, size_t tiles);

/** Before the first use. */
void weave_avx2_init(void);

/** For so many columns, 2 at least and less than 16 bytes of them. */
weave_kernel *weave_avx2(uint32_t size_log, size_t cols);

#endif /* MLI_EXEC_X86_WEAVE_AVX2_H */
