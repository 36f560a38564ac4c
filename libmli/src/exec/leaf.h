/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaf kernels: they move bytes between strided rows and know nothing else. Addresses may be
 * misaligned in every way; source and destination never overlap. Not a byte outside the elements
 * named is written, and none read, but that a vector may read what lies between the elements of one
 * row of a gather or of a narrow transpose. In between a kernel may write other bytes over those it
 * is going to write: rows that are packed are quicker in whole registers, each of which ends in the
 * rows that follow. Counts and runs are 1 or more; all steps are in bytes.
 *
 * To add a faster level, see level.h.
 */
#ifndef MLI_EXEC_LEAF_H
#define MLI_EXEC_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct leaf_loop {
    size_t count;
    size_t dst_step, src_step; /* of no meaning where the count is 1 */
};

/*
 * Where rows lie: row (i, k), for i < outer.count and k < inner.count, at
 * dst + i * outer.dst_step + k * inner.dst_step, and in the source accordingly.
 */
struct leaf_nest {
    uint8_t *dst;
    const uint8_t *src;
    struct leaf_loop outer, inner;
    size_t ahead; /* so far behind each row is one of the source to be fetched; 0: none is */
};

/* What a row is made of, in bytes: zeros, `run` bytes of the source, zeros. */
struct leaf_border {
    size_t before, run, after;
};

/* Each row is `run` bytes of the source. */
typedef void leaf_rows(const struct leaf_nest *nest, size_t run);

/* Each row is before + run + after bytes; the nest's src is the first of the run's. */
typedef void leaf_bordered(const struct leaf_nest *nest, const struct leaf_border *border);

/*
 * Each row is `cols` elements of E bytes that lie `step` apart in the source. step is not E; where
 * it is less, the source's elements overlap.
 */
typedef void leaf_gather(const struct leaf_nest *nest, size_t step, size_t cols);

/*
 * dst[r * dst_step + c * E] = src[c * src_step + r * E] for r < rows, c < cols, elements of E
 * bytes: contiguous columns of the source become contiguous rows of the destination.
 */
typedef void leaf_transpose(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step,
                            size_t rows, size_t cols);

/* The same with rows and columns anywhere: dst[dst_at[r] + c * E] = src[src_at[c] + r * E] */
typedef void leaf_transpose_at(uint8_t *dst, const size_t *dst_at, const uint8_t *src,
                               const size_t *src_at, size_t rows, size_t cols);

/* dst[i * step + 0 .. run) = 0 for i < count */
typedef void leaf_fill(uint8_t *dst, size_t step, size_t run, size_t count);

/*
 * dst[0 .. bytes) = src[0 .. bytes), past the caches where whole lines of the destination are
 * written. What others see is in order only after a call of the fence.
 */
typedef void leaf_stream(uint8_t *dst, const uint8_t *src, size_t bytes);
typedef void leaf_fence(void);

/* Transposes in the same way, where it has one that needs no stage (stage.h). Returns whether it
   has; else nothing is done. */
typedef bool leaf_transpose_stream(uint8_t *dst, size_t dst_step, const uint8_t *src,
                                   size_t src_step, size_t rows, size_t cols);

/* Arrays of four are for elements of 1, 2, 4 and 8 bytes. */
struct leaf_table {
    const char *name;
    leaf_rows *rows;
    leaf_bordered *bordered;
    leaf_gather *gather[4];
    leaf_transpose *transpose[4];
    leaf_transpose_at *transpose_at[4];
    leaf_fill *fill;
    leaf_stream *stream; /* null where the processor has no such stores; and then no fence */
    leaf_fence *fence;
    bool small_panels; /* call transpose_at with few rows and columns: their tables take stack */
    bool fetches;      /* rows and gathers fetch what is `ahead`; others need not */
    leaf_transpose_stream *transpose_stream[4];  /* null where there is none */
    leaf_transpose_stream *transpose_streams[4]; /* only says whether it has one; as many of them */
};

extern const struct leaf_table leaf_c;

#endif /* MLI_EXEC_LEAF_H */
