/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of a leaf kernel, as numbers. All leaves are the same three loops here:
 *
 *     dst[r * dst_step + c * size + b] = src[r * row_step + c * col_step + b]
 *
 * with cols = 1 for rows and fills. Nothing of this is shared with the library.
 */
#ifndef TEST_LEAF_SHAPE_H
#define TEST_LEAF_SHAPE_H

#include <stdbool.h>
#include <stdio.h>

#include "exec/leaf.h"

enum leaf_kind { LEAF_ROWS, LEAF_FILL, LEAF_TRANSPOSE, LEAF_PICK, LEAF_KINDS };

struct shape {
    enum leaf_kind kind;
    size_t size; /* of an element; the run of rows and fills */
    size_t rows, cols;
    size_t dst_step, src_step;
    size_t pick_step;
};

/* Distance in the source of neighbouring rows, and of neighbouring elements of one. */
size_t shape_row_step(const struct shape *s);
size_t shape_col_step(const struct shape *s);

/* Bytes from the first to the last one that is written, and read. */
size_t shape_dst_extent(const struct shape *s);
size_t shape_src_extent(const struct shape *s);

/* Every byte by itself. */
void shape_reference(const struct shape *s, uint8_t *dst, const uint8_t *src);

/* Through the level's kernel. */
void shape_run(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
               const uint8_t *src);

/* "transpose[2] rows=3 cols=70 ..." */
void shape_print(FILE *to, const struct shape *s);

#endif /* TEST_LEAF_SHAPE_H */
