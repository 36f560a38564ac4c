/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape.h"

size_t shape_row_step(const struct shape *s)
{
    return s->kind == LEAF_TRANSPOSE ? s->size : s->src_step;
}

size_t shape_col_step(const struct shape *s)
{
    return s->kind == LEAF_TRANSPOSE ? s->src_step : s->kind == LEAF_PICK ? s->pick_step : 0;
}

size_t shape_dst_extent(const struct shape *s)
{
    return (s->rows - 1) * s->dst_step + s->cols * s->size;
}

size_t shape_src_extent(const struct shape *s)
{
    if (s->kind == LEAF_FILL)
        return 0;
    return (s->rows - 1) * shape_row_step(s) + (s->cols - 1) * shape_col_step(s) + s->size;
}

void shape_reference(const struct shape *s, uint8_t *dst, const uint8_t *src)
{
    const size_t row_step = shape_row_step(s), col_step = shape_col_step(s);

    for (size_t r = 0; r < s->rows; r++) {
        for (size_t c = 0; c < s->cols; c++) {
            uint8_t *to = dst + r * s->dst_step + c * s->size;
            const uint8_t *from = src + r * row_step + c * col_step;

            for (size_t b = 0; b < s->size; b++)
                to[b] = s->kind == LEAF_FILL ? 0 : from[b];
        }
    }
}

/* Index in a table of four. */
static int size_log(size_t size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

void shape_run(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
               const uint8_t *src)
{
    const struct leaf_nest nest = {dst, src, {1, 0, 0}, {s->rows, s->dst_step, s->src_step}};

    switch (s->kind) {
    case LEAF_ROWS:
        leaf->rows(&nest, s->size);
        break;
    case LEAF_FILL:
        leaf->fill(dst, s->dst_step, s->size, s->rows);
        break;
    case LEAF_TRANSPOSE:
        leaf->transpose[size_log(s->size)](dst, s->dst_step, src, s->src_step, s->rows, s->cols);
        break;
    default:
        leaf->pick[size_log(s->size)](&nest, s->pick_step, s->cols);
    }
}

void shape_print(FILE *to, const struct shape *s)
{
    switch (s->kind) {
    case LEAF_ROWS:
        fprintf(to, "rows run=%zu count=%zu dst_step=%zu src_step=%zu", s->size, s->rows,
                s->dst_step, s->src_step);
        break;
    case LEAF_FILL:
        fprintf(to, "fill run=%zu count=%zu step=%zu", s->size, s->rows, s->dst_step);
        break;
    case LEAF_TRANSPOSE:
        fprintf(to, "transpose[%d] rows=%zu cols=%zu dst_step=%zu src_step=%zu", size_log(s->size),
                s->rows, s->cols, s->dst_step, s->src_step);
        break;
    default:
        fprintf(to, "pick[%d] rows=%zu cols=%zu step=%zu dst_step=%zu src_step=%zu",
                size_log(s->size), s->rows, s->cols, s->pick_step, s->dst_step, s->src_step);
    }
}
