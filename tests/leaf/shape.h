/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of a leaf kernel, as numbers. All leaves are the same three loops here: with
 * D(r) and S(i) the places that the layouts dst and src tell,
 *
 *     dst[D(r) + before + c * size + b] = src[S(r) + c * gather_step + b]
 *     dst[D(r) + c * size + b] = src[S(c) + r * size + b]                 of transposes
 *
 * with cols = 1 for rows, fills and streams. Nothing of this is shared with the library.
 */
#ifndef TEST_LEAF_SHAPE_H
#define TEST_LEAF_SHAPE_H

#include <stdbool.h>
#include <stdio.h>

#include "libmli/src/exec/leaf.h"
#include "tests/leaf/leaf_layout.h"

enum leaf_kind {
    LEAF_ROWS,
    LEAF_BORDERED,
    LEAF_GATHER,
    LEAF_FILL,
    LEAF_TRANSPOSE,
    LEAF_TRANSPOSE_AT,
    LEAF_STREAM,
    LEAF_TRANSPOSE_STREAM, /* or, where the level has no way for it, as LEAF_TRANSPOSE */
    LEAF_KINDS
};

struct shape {
    enum leaf_kind kind;
    size_t size; /* of an element; the run of rows, fills and streams */
    size_t rows, cols;
    struct layout dst, src;
    size_t gather_step;
    size_t before, after; /* zeros around a row of `bordered` */
    size_t idle;          /* what is given for a step where the count is 1; odd, as `ahead`, too */
};

/* "rows", "bordered" ... */
const char *shape_kind_name(enum leaf_kind kind);

/* Is it called with a nest, and is it one of the transposes? */
bool shape_has_nest(const struct shape *s);
bool shape_is_transpose(const struct shape *s);

/* How many things the layout src is about. */
size_t shape_src_count(const struct shape *s);

/* Bytes of such a thing, from the first to the last one that is read; of a row that is written. */
size_t shape_src_piece(const struct shape *s);
size_t shape_dst_piece(const struct shape *s);

/* Bytes from the first to the last one that is written, and read. */
size_t shape_dst_extent(const struct shape *s);
size_t shape_src_extent(const struct shape *s);

/* Every byte by itself. */
void shape_reference(const struct shape *s, uint8_t *dst, const uint8_t *src);

/* Has the level a kernel for it? */
bool shape_is_known(const struct shape *s, const struct leaf_table *leaf);

/* Through the level's kernel. */
void shape_run(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
               const uint8_t *src);

/* "transpose[2] rows=3 cols=70 ..." */
void shape_print(FILE *to, const struct shape *s);

#endif /* TEST_LEAF_SHAPE_H */
