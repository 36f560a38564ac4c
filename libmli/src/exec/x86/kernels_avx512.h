/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels with AVX-512. leaf_avx512.c puts them into the table of kernels. */
#ifndef MLI_EXEC_X86_KERNELS_AVX512_H
#define MLI_EXEC_X86_KERNELS_AVX512_H

#include <stdbool.h>

#include "libmli/src/exec/leaf.h"

/* rows_avx512.c: kernels that copy rows, with and without zeros on both sides */

leaf_rows rows_avx512;
leaf_bordered bordered_avx512;

/* stream_avx512.c: kernels that write zeros, and copy with stores that bypass the caches */

leaf_fill fill_avx512;
leaf_stream stream_avx512;
leaf_fence fence_avx512;

/*
 * packed_avx512.c: kernels for rows of at most 64 bytes that follow one another in the destination
 */

/** Returns whether packed_avx512() can move rows of `row` bytes, zeros included. */
bool packed_avx512_can(const struct leaf_nest *nest, size_t row);

/** leaf_bordered for nests that packed_avx512_can() accepts. The border may have no zeros. */
void packed_avx512(const struct leaf_nest *nest, const struct leaf_border *border);

/**
 * leaf_gather for short rows with small steps. For other rows it does nothing and returns false.
 */
bool packed_avx512_gather(const struct leaf_nest *nest, size_t elem, size_t step, size_t cols);

/* gather_avx512.c: kernels that gather every s-th element, for small s */

/** Fills the tables of gather_avx512(). Call it before the first use. */
void gather_avx512_init(void);

/** Returns whether gather_avx512() can gather elements of 2^size_log bytes, `step` bytes apart. */
bool gather_avx512_can(uint32_t size_log, size_t step);

/** leaf_gather for elements that gather_avx512_can() accepts. */
void gather_avx512(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

/* skinny_avx512.c: transposes with few rows or few columns */

/** The arguments of leaf_transpose, for elements of 2^size_log bytes. */
struct skinny {
    uint32_t size_log;
    uint8_t *dst;
    size_t dst_step;
    const uint8_t *src;
    size_t src_step;
    size_t rows, cols;
};

/** Fills the tables of skinny_avx512(). Call it before the first use. */
void skinny_avx512_init(void);

/**
 * Transposes and returns true, if that is faster than tiles; otherwise does nothing and returns
 * false.
 */
bool skinny_avx512(const struct skinny *skinny);

/** Transposes like skinny_avx512(), with stores that bypass the caches. */
bool skinny_stream_avx512(const struct skinny *skinny);

/** Returns whether skinny_stream_avx512() would transpose. */
bool skinny_streams_avx512(const struct skinny *skinny);

/* narrow_avx512.c: transposes with rows or columns of less than 16 bytes, and arbitrary strides */

/**
 * Transposes and returns true, if rows or columns have less than 16 bytes; otherwise does nothing
 * and returns false.
 */
bool narrow_avx512(const struct skinny *skinny);

#endif /* MLI_EXEC_X86_KERNELS_AVX512_H */
