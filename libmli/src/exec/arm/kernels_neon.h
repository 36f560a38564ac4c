/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with NEON. leaf_neon.c puts them into the table of kernels. */
#ifndef MLI_EXEC_ARM_KERNELS_NEON_H
#define MLI_EXEC_ARM_KERNELS_NEON_H

#include "libmli/src/exec/leaf.h"

/* rows_neon.c: kernels that copy rows, copy rows with zeros on both sides, and write zeros */

leaf_rows rows_neon;
leaf_bordered bordered_neon;
leaf_fill fill_neon;

/* zip_neon.c: kernels that interleave two, three or four rows or columns */

/**
 * leaf_gather, and leaf_transpose with few rows or few columns, for elements of 2^size_log bytes.
 * If the shape does not fit, they do nothing and return false.
 */
bool zip_neon_gather(unsigned size_log, const struct leaf_nest *nest, size_t step, size_t cols);
bool zip_neon_transpose(unsigned size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                        size_t src_step, size_t rows, size_t cols);

#endif /* MLI_EXEC_ARM_KERNELS_NEON_H */
