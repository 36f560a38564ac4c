/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with AVX2. leaf_avx2.c puts them into the table of kernels. */
#ifndef MLI_EXEC_X86_KERNELS_AVX2_H
#define MLI_EXEC_X86_KERNELS_AVX2_H

#include "libmli/src/exec/leaf.h"

/*
 * rows_avx2.c: kernels that copy rows, copy rows with zeros on both sides, write zeros, and copy
 * with stores that bypass the caches
 */

leaf_rows rows_avx2;
leaf_bordered bordered_avx2;
leaf_fill fill_avx2;
leaf_stream stream_avx2;
leaf_fence fence_avx2;

/* gather_avx2.c: kernels that gather every s-th element, for small s */

/** Fills the tables of gather_avx2(). Call it before the first use. */
void gather_avx2_init(void);

/** leaf_gather for elements of 2^size_log bytes. */
void gather_avx2(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

/* skinny_avx2.c: transposes with rows or columns of less than 16 bytes; uses the two files below */

/** Fills the tables of skinny_avx2.c, narrow_avx2.c and interleave_avx2.c. Call it before use. */
void skinny_avx2_init(void);

/** leaf_transpose for elements of 2^size_log bytes, with few rows or few columns. */
void skinny_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols);

/* narrow_avx2.c: transposes of pixels to planes */

void narrow_avx2_init(void);

/**
 * leaf_transpose for elements of 2^size_log bytes: at least 2 rows, less than 16 bytes in a column,
 * at least 16 bytes in a row. Also reads the gaps between columns.
 */
void narrow_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols);

/* interleave_avx2.c: transposes of planes to pixels */

void interleave_avx2_init(void);

/**
 * leaf_transpose for elements of 2^size_log bytes, to packed rows: at least 2 columns, less than 16
 * bytes in a row, at least 16 bytes in a column.
 */
void interleave_avx2(uint32_t size_log, uint8_t *dst, const uint8_t *src, size_t src_step,
                     size_t rows, size_t cols);

#endif /* MLI_EXEC_X86_KERNELS_AVX2_H */
