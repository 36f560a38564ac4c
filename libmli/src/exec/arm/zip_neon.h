/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements that lie two, three or four elements apart, for leaf_neon.c. */
#ifndef MLI_EXEC_ARM_ZIP_NEON_H
#define MLI_EXEC_ARM_ZIP_NEON_H

#include "libmli/src/exec/leaf.h"

/**
 * leaf_gather, or leaf_transpose of few rows or columns, of elements of 2^size_log bytes. They do
 * nothing and return false where it is not their case.
 */
bool zip_neon_gather(unsigned size_log, const struct leaf_nest *nest, size_t step, size_t cols);
bool zip_neon_transpose(unsigned size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                        size_t src_step, size_t rows, size_t cols);

#endif /* MLI_EXEC_ARM_ZIP_NEON_H */
