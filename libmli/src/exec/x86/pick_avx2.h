/* SPDX-License-Identifier: BSD-3-Clause */
/* Picking elements that lie a few elements apart, for leaf_avx2.c. */
#ifndef MLI_EXEC_X86_PICK_AVX2_H
#define MLI_EXEC_X86_PICK_AVX2_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void pick_avx2_init(void);

/** leaf_pick of elements of 2^size_log bytes. */
void pick_avx2(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

#endif /* MLI_EXEC_X86_PICK_AVX2_H */
