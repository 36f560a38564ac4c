/* SPDX-License-Identifier: BSD-3-Clause */
/* Short rows that are packed in the destination, for rows_avx512.c. */
#ifndef MLI_EXEC_X86_PACKED_AVX512_H
#define MLI_EXEC_X86_PACKED_AVX512_H

#include <stdbool.h>

#include "../leaf.h"

/** Rows of so many bytes: are they ours? */
bool packed_avx512_can(const struct leaf_nest *nest, size_t row);

/** leaf_bordered of such rows; zeros there may be none. */
void packed_avx512(const struct leaf_nest *nest, const struct leaf_border *border);

#endif /* MLI_EXEC_X86_PACKED_AVX512_H */
