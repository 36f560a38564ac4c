/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathering elements that lie a few elements apart, for leaf_avx512.c. */
#ifndef MLI_EXEC_X86_GATHER_AVX512_H
#define MLI_EXEC_X86_GATHER_AVX512_H

#include "libmli/src/exec/leaf.h"

/** Before the first use. */
void gather_avx512_init(void);

/** Elements of 2^size_log bytes, `step` bytes apart: are they ours? */
bool gather_avx512_can(uint32_t size_log, size_t step);

/** leaf_gather of such elements. */
void gather_avx512(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

#endif /* MLI_EXEC_X86_GATHER_AVX512_H */
