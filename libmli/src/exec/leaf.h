/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf kernels move bytes between strided rows; they know nothing of plans or tensors. Addresses
 * may have any misalignment; source and destination never overlap. A kernel writes no byte outside
 * the elements it moves. It reads no other byte either, with one exception: a vector load may read
 * the bytes between the elements of one row of a gather or of a narrow transpose. A kernel may
 * write other values to bytes that it writes again later: packed rows are faster in whole
 * registers, each of which ends in the rows that follow. Counts and runs are 1 or more; all steps
 * are in bytes.
 *
 * To add a leaf kernel, start here:
 *   1. Write it with one of the types below, in c/, x86/ or arm/, and declare it below (C) or in
 *      x86/kernels_x86.h; a new file is listed in libmli/meson.build. Of this folder it includes
 *      copy.h, leaf.h, tile*.h and tuning.h: no header that knows plans.
 *   2. Put it into the table of its level: leaf_c.c, leaf_avx2.c, leaf_avx512.c or leaf_neon.c. An
 *      entry replaces that of the level below. A new type of kernel is also a new entry of struct
 *      leaf_table, with a version in C, and a way to reach it in walk.c.
 *   3. Test it: tests/leaf compares every entry of every level with a loop over bytes, and
 *      `test_leaf LEVEL --bench` measures it. A new type of kernel is also a new enum leaf_kind in
 *      tests/leaf/shape.h, with its shapes in shape.c.
 * To add a level (an instruction set), start at LEVEL_HAS_* below: write a file that defines its
 * function, add a bit to mli_helpers_api.h, and a line to the table in level.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leaf_loop {
    size_t count;
    size_t dst_step, src_step; /* meaningless if the count is 1 */
};

/*
 * A nest of rows. Row (i, k), for i < outer.count and k < inner.count, begins at
 * dst + i * outer.dst_step + k * inner.dst_step, and in the source with the source's steps.
 */
struct leaf_nest {
    uint8_t *dst;
    const uint8_t *src;
    struct leaf_loop outer, inner;
    size_t ahead; /* prefetch distance in bytes, from a row of the source; 0 disables prefetching */
};

/* A row, in bytes: zeros, `run` bytes of the source, zeros. */
struct leaf_border {
    size_t before, run, after;
};

/* Each row is `run` bytes of the source. */
typedef void leaf_rows(const struct leaf_nest *nest, size_t run);

/* Each row is before + run + after bytes; the nest's src is the first byte of the run. */
typedef void leaf_bordered(const struct leaf_nest *nest, const struct leaf_border *border);

/*
 * Each row is `cols` elements of E bytes that are `step` bytes apart in the source. step is not E;
 * if it is less, elements of the source overlap.
 */
typedef void leaf_gather(const struct leaf_nest *nest, size_t step, size_t cols);

/*
 * dst[r * dst_step + c * E] = src[c * src_step + r * E] for r < rows, c < cols, elements of E
 * bytes: contiguous columns of the source become contiguous rows of the destination.
 */
typedef void leaf_transpose(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                            size_t rows, size_t cols);

/*
 * A transpose with rows and columns at any place: dst[dst_at[r] + c * E] = src[src_at[c] + r * E]
 */
typedef void leaf_transpose_at(uint8_t *dst, const size_t *dst_at, const uint8_t *src,
                               const size_t *src_at, size_t rows, size_t cols);

/* dst[i * step + 0 .. run) = 0 for i < count */
typedef void leaf_fill(uint8_t *dst, size_t step, size_t run, size_t count);

/*
 * dst[0 .. bytes) = src[0 .. bytes), with stores that bypass the caches for whole lines of the
 * destination. Call the fence before other threads may read the bytes.
 */
typedef void leaf_stream(uint8_t *dst, const uint8_t *src, size_t bytes);
typedef void leaf_fence(void);

/*
 * A transpose with stores that bypass the caches, without a stage buffer (stage.c). If the level
 * has no such kernel for these arguments, the function does nothing and returns false.
 */
typedef bool leaf_transpose_stream(uint8_t *dst, size_t dst_step, const uint8_t *src,
                                   size_t src_step, size_t rows, size_t cols);

/* The kernels in use. Arrays of four have entries for elements of 1, 2, 4 and 8 bytes. */
struct leaf_table {
    const char *name;
    leaf_rows *rows;
    leaf_bordered *bordered;
    leaf_gather *gather[4];
    leaf_transpose *transpose[4];
    leaf_transpose_at *transpose_at[4];
    leaf_fill *fill;
    leaf_stream *stream; /* null if stores of the level cannot bypass the caches */
    leaf_fence *fence;
    bool small_panels; /* true: call transpose_at with small tables, to use little stack */
    bool fetches; /* true: rows and gathers prefetch at distance `ahead`; other kernels ignore it */
    leaf_transpose_stream *transpose_stream[4];  /* null: the level lacks this kernel */
    leaf_transpose_stream *transpose_streams[4]; /* only tell whether transpose_stream can move */
};

/* The kernels in plain C. Levels without a kernel for a case call them. */
leaf_rows rows_c;
leaf_bordered bordered_c;
leaf_fill fill_c;
leaf_gather gather_c_1, gather_c_2, gather_c_4, gather_c_8;
leaf_transpose transpose_c_1, transpose_c_2, transpose_c_4, transpose_c_8;
leaf_transpose_at transpose_at_c_1, transpose_at_c_2, transpose_at_c_4, transpose_at_c_8;
extern const struct leaf_table leaf_c;

/*
 * Levels of leaf kernels: plain C is the lowest; each instruction set of the processor is a level
 * above. A level replaces some kernels in the table of the level below. For arguments that such a
 * kernel does not handle, it calls the kernel that it has replaced.
 */
#if defined(__x86_64__) && !defined(MLI_NO_SIMD) && !defined(MLI_NO_AVX2)
#define LEVEL_HAS_X86 1
void level_avx2(struct leaf_table *table);
#else
#define LEVEL_HAS_X86 0
#endif

#if LEVEL_HAS_X86 && !defined(MLI_NO_AVX512)
#define LEVEL_HAS_AVX512 1
void level_avx512(struct leaf_table *table);
#else
#define LEVEL_HAS_AVX512 0
#endif

#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(MLI_NO_SIMD) &&  \
    !defined(MLI_NO_NEON)
#define LEVEL_HAS_NEON 1
void level_neon(struct leaf_table *table);
#else
#define LEVEL_HAS_NEON 0
#endif

/* 1 if a level has kernels whose stores bypass the caches. */
#define LEVEL_STREAMS LEVEL_HAS_X86

/* 1 if plain C is the only level, and there is no environment that could change the tuning. */
#define LEVEL_ONLY_C (!LEVEL_HAS_X86 && !LEVEL_HAS_NEON && !__STDC_HOSTED__)

/** Returns the kernels to use (level.c). Any thread. */
const struct leaf_table *level_leaf(void);

/* Loops over the rows of a nest, for the kernels. */

static inline size_t nest_rows(const struct leaf_nest *nest)
{
    return nest->outer.count * nest->inner.count;
}

/* Returns whether rows of `row` bytes follow one another in the destination without a gap. */
static inline bool nest_is_packed(const struct leaf_nest *nest, size_t row)
{
    return (nest->inner.count == 1 || nest->inner.dst_step == row) &&
           (nest->outer.count == 1 || nest->outer.dst_step == nest->inner.count * row);
}

/* Runs a block of code for every row; `to` and `from` point to the row's first bytes. */
#define NEST_FOR_ROWS(nest, to, from, ...)                                                         \
    for (size_t outer_ = 0; outer_ < (nest)->outer.count; outer_++) {                              \
        uint8_t *to = (nest)->dst + outer_ * (nest)->outer.dst_step;                               \
        const uint8_t *from = (nest)->src + outer_ * (nest)->outer.src_step;                       \
                                                                                                   \
        for (size_t inner_ = 0; inner_ < (nest)->inner.count;                                      \
             inner_++, to += (nest)->inner.dst_step, from += (nest)->inner.src_step)               \
            __VA_ARGS__                                                                            \
    }
