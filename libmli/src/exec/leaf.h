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
 *   1. Write it with one of the types below, in c/, x86/ or arm/, and declare it in the kernels_*.h
 *      of that folder; a new file is listed in libmli/meson.build. Of this folder it includes
 *      copy.h, leaf.h, level.h, nest.h, piece.h, tile*.h and tuning.h: no header that knows plans.
 *   2. Put it into the table of its level: leaf_c.c, leaf_avx2.c, leaf_avx512.c or leaf_neon.c. An
 *      entry replaces that of the level below. A new type of kernel is also a new entry of struct
 *      leaf_table, with a version in C, and a way to reach it in walk.c.
 *   3. Test it: tests/leaf compares every entry of every level with a loop over bytes, and
 *      `test_leaf LEVEL --bench` measures it. A new type of kernel is also a new enum leaf_kind in
 *      tests/leaf/shape.h, with its shapes in shape.c.
 * To add a level (an instruction set), see level.h.
 */
#ifndef MLI_EXEC_LEAF_H
#define MLI_EXEC_LEAF_H

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
 * A transpose with stores that bypass the caches, without a stage buffer (stage.h). If the level
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
    leaf_transpose_stream *transpose_stream[4];  /* null if the level has no such kernel */
    leaf_transpose_stream *transpose_streams[4]; /* return whether transpose_stream would do it */
};

extern const struct leaf_table leaf_c;

#endif /* MLI_EXEC_LEAF_H */
