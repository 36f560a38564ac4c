/* SPDX-License-Identifier: BSD-3-Clause */
/* Picking elements that lie a few elements apart, for leaf_avx512.c. */
#ifndef MLI_EXEC_X86_PICK_AVX512_H
#define MLI_EXEC_X86_PICK_AVX512_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Before the first use. */
void pick_avx512_init(void);

/** Elements of 2^size_log bytes, `step` bytes apart: are they ours? */
bool pick_avx512_can(uint32_t size_log, size_t step);

/** leaf_pick of such elements. */
void pick_avx512(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t step, size_t rows, size_t cols);

#endif /* MLI_EXEC_X86_PICK_AVX512_H */
