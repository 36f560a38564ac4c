/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathering elements that lie a few elements apart, for leaf_avx2.c. */
#ifndef MLI_EXEC_X86_GATHER_AVX2_H
#define MLI_EXEC_X86_GATHER_AVX2_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void gather_avx2_init(void);

/** leaf_gather of elements of 2^size_log bytes. */
void gather_avx2(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

#endif /* MLI_EXEC_X86_GATHER_AVX2_H */
