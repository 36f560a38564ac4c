/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels for x86. leaf_avx2.c and leaf_avx512.c put them into the table of kernels.
 *
 * Functions between TARGET_BEGIN("avx2,...") and TARGET_END may use these instruction sets; the
 * rest of the library is compiled without them. Include <immintrin.h> before TARGET_BEGIN: its
 * functions have targets of their own. Do not test the compiler's target macros (__AVX2__) in
 * between: their value there differs between compilers.
 */
#pragma once

#include <stdbool.h>

#include "libmli/src/exec/leaf.h"

#define TARGET_PRAGMA(text) _Pragma(#text)

#ifdef __clang__
#define TARGET_BEGIN(sets)                                                                         \
    TARGET_PRAGMA(clang attribute push(__attribute__((target(sets))), apply_to = function))
#define TARGET_END TARGET_PRAGMA(clang attribute pop)
#else
#define TARGET_BEGIN(sets) TARGET_PRAGMA(GCC push_options) TARGET_PRAGMA(GCC target(sets))
#define TARGET_END         TARGET_PRAGMA(GCC pop_options)
#endif

/* The arguments of leaf_transpose, for elements of 2^size_log bytes. */
struct skinny {
    uint32_t size_log;
    uint8_t *dst;
    size_t dst_step;
    const uint8_t *src;
    size_t src_step;
    size_t rows, cols;
};

/* AVX2 */

/*
 * rows_avx2.c: kernels that copy rows, copy rows with zeros on both sides, write zeros, and copy
 * with stores that bypass the caches
 */

leaf_rows rows_avx2;
leaf_bordered bordered_avx2;
leaf_fill fill_avx2;
leaf_stream stream_avx2;
leaf_fence fence_x86; /* for AVX2 and AVX-512 */

/* gather_avx2.c: kernels that gather every s-th element, for small s */

/** Fills the tables of gather_avx2(). Call it before the first use. */
void gather_avx2_init(void);

/** leaf_gather for elements of 2^size_log bytes. */
void gather_avx2(uint32_t size_log, const struct leaf_nest *nest, size_t step, size_t cols);

/* skinny_avx2.c: transposes with rows or columns of less than 16 bytes */

/** Fills the tables of skinny_avx2(). Call it before the first use. */
void skinny_avx2_init(void);

/** leaf_transpose for elements of 2^size_log bytes, with few rows or few columns. */
void skinny_avx2(uint32_t size_log, uint8_t *dst, size_t dst_step, const uint8_t *src,
                 size_t src_step, size_t rows, size_t cols);

/* AVX-512 */

/* rows_avx512.c: the same kernels as in rows_avx2.c */

leaf_rows rows_avx512;
leaf_bordered bordered_avx512;
leaf_fill fill_avx512;
leaf_stream stream_avx512;

/*
 * packed_avx512.c: kernels for rows of at most 64 bytes that follow one another in the destination
 */

/** Returns whether packed_avx512() can move rows of `row` bytes, zeros included. */
bool packed_avx512_can(const struct leaf_nest *nest, size_t row);

/** A leaf_bordered kernel for nests that packed_avx512_can() accepts; also works without zeros. */
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
