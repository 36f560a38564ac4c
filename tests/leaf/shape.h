/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of a leaf kernel, as numbers. In this model, all leaves are the same three loops. D(r)
 * and S(i) are places in the layouts dst and src:
 *
 *     dst[D(r) + before + c * size + b] = src[S(r) + c * gather_step + b]
 *     dst[D(r) + c * size + b] = src[S(c) + r * size + b]                 for transposes
 *
 * For rows, fills and streams, cols is 1. The library does not use this code.
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
    LEAF_TRANSPOSE_STREAM, /* if the level has no such kernel, LEAF_TRANSPOSE is used instead */
    LEAF_KINDS
};

struct shape {
    enum leaf_kind kind;
    size_t size; /* size of an element; for rows, fills and streams, the length of the run */
    size_t rows, cols;
    struct layout dst, src;
    size_t gather_step;
    size_t before, after; /* number of zeros before and after a row of `bordered` */
    size_t idle; /* odd numbers for the step of a loop with a count of 1, and for `ahead` */
};

/* Returns the name of a kind: "rows", "bordered" ... */
const char *shape_kind_name(enum leaf_kind kind);

/* Return whether the kernel of a shape takes a nest of loops, and whether it is a transpose. */
bool shape_has_nest(const struct shape *s);
bool shape_is_transpose(const struct shape *s);

/* Returns the number of offsets in s->src: rows, or columns of a transpose. */
size_t shape_src_count(const struct shape *s);

/*
 * Return the size of a piece in bytes: in the source, from the first to the last byte that is read;
 * in the destination, the size of the row that is written.
 */
size_t shape_src_piece(const struct shape *s);
size_t shape_dst_piece(const struct shape *s);

/* Return the number of bytes from the first to the last byte that is written, or read. */
size_t shape_dst_extent(const struct shape *s);
size_t shape_src_extent(const struct shape *s);

/* Makes the move byte by byte. */
void shape_reference(const struct shape *s, uint8_t *dst, const uint8_t *src);

/* Returns whether the level has a kernel for the shape. */
bool shape_is_known(const struct shape *s, const struct leaf_table *leaf);

/* Calls the level's kernel for the shape. */
void shape_run(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
               const uint8_t *src);

/* Writes a shape: "transpose[2] rows=3 cols=70 ..." */
void shape_print(FILE *to, const struct shape *s);

#endif /* TEST_LEAF_SHAPE_H */
