/* SPDX-License-Identifier: BSD-3-Clause */
/* Short rows that are packed in the destination, for rows_avx512.c. */
#ifndef MLI_EXEC_X86_PACKED_AVX512_H
#define MLI_EXEC_X86_PACKED_AVX512_H

#include <stdbool.h>

#include "libmli/src/exec/leaf.h"

/** Rows of so many bytes: are they ours? */
bool packed_avx512_can(const struct leaf_nest *nest, size_t row);

/** leaf_bordered of such rows; zeros there may be none. */
void packed_avx512(const struct leaf_nest *nest, const struct leaf_border *border);

/** leaf_gather where the rows are that short and so close together; false where they are not. */
bool packed_avx512_gather(const struct leaf_nest *nest, size_t elem, size_t step, size_t cols);

#endif /* MLI_EXEC_X86_PACKED_AVX512_H */
