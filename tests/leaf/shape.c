/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/shape.h"

const char *shape_kind_name(enum leaf_kind kind)
{
    static const char *const names[] = {"rows",      "bordered",     "gather", "fill",
                                        "transpose", "transpose_at", "stream", "transpose_stream"};

    return names[kind];
}

bool shape_has_nest(const struct shape *s)
{
    return s->kind == LEAF_ROWS || s->kind == LEAF_BORDERED || s->kind == LEAF_GATHER;
}

bool shape_is_transpose(const struct shape *s)
{
    return s->kind == LEAF_TRANSPOSE || s->kind == LEAF_TRANSPOSE_AT ||
           s->kind == LEAF_TRANSPOSE_STREAM;
}

size_t shape_src_count(const struct shape *s)
{
    return shape_is_transpose(s) ? s->cols : s->rows;
}

size_t shape_src_piece(const struct shape *s)
{
    return shape_is_transpose(s) ? s->rows * s->size : (s->cols - 1) * s->gather_step + s->size;
}

size_t shape_dst_piece(const struct shape *s)
{
    return s->before + s->cols * s->size + s->after;
}

size_t shape_dst_extent(const struct shape *s)
{
    return layout_span(&s->dst, s->rows) + shape_dst_piece(s);
}

size_t shape_src_extent(const struct shape *s)
{
    if (s->kind == LEAF_FILL)
        return 0;
    return layout_span(&s->src, shape_src_count(s)) + shape_src_piece(s);
}

static void zero(uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = 0;
}

void shape_reference(const struct shape *s, uint8_t *dst, const uint8_t *src)
{
    const bool transposed = shape_is_transpose(s);

    for (size_t r = 0; r < s->rows; r++) {
        uint8_t *to = dst + layout_at(&s->dst, r) + s->before;

        zero(to - s->before, shape_dst_piece(s));
        for (size_t c = 0; c < s->cols && s->kind != LEAF_FILL; c++) {
            const size_t from = transposed ? layout_at(&s->src, c) + r * s->size
                                           : layout_at(&s->src, r) + c * s->gather_step;

            for (size_t b = 0; b < s->size; b++)
                to[c * s->size + b] = src[from + b];
        }
    }
}

/* Returns the index of an element size in a table of four sizes. */
static int size_log(size_t size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
}

static struct leaf_loop loop(const struct shape *s, size_t count, size_t dst_step, size_t src_step)
{
    if (count == 1)
        return (struct leaf_loop){1, s->idle, s->idle};
    return (struct leaf_loop){count, dst_step, src_step};
}

bool shape_is_known(const struct shape *s, const struct leaf_table *leaf)
{
    if (s->kind == LEAF_TRANSPOSE_STREAM)
        return leaf->transpose_stream[size_log(s->size)];
    return s->kind != LEAF_STREAM || leaf->stream;
}

void shape_run(const struct shape *s, const struct leaf_table *leaf, uint8_t *dst,
               const uint8_t *src)
{
    const struct leaf_nest nest = {
        dst, src, loop(s, s->rows / s->dst.inner, s->dst.outer_step, s->src.outer_step),
        loop(s, s->dst.inner, s->dst.step, s->src.step), s->idle % 2 ? s->idle : 0};
    const size_t dst_step = s->rows > 1 ? s->dst.step : s->idle;
    const size_t src_step = s->cols > 1 ? s->src.step : s->idle;
    const int log = size_log(s->size);

    switch (s->kind) {
    case LEAF_ROWS:
        leaf->rows(&nest, s->size);
        break;
    case LEAF_BORDERED:
        leaf->bordered(&nest, &(struct leaf_border){s->before, s->size, s->after});
        break;
    case LEAF_GATHER:
        leaf->gather[log](&nest, s->gather_step, s->cols);
        break;
    case LEAF_FILL:
        leaf->fill(dst, dst_step, s->size, s->rows);
        break;
    case LEAF_TRANSPOSE:
        leaf->transpose[log](dst, dst_step, src, src_step, s->rows, s->cols);
        break;
    case LEAF_TRANSPOSE_STREAM:
        if (!leaf->transpose_stream[log](dst, dst_step, src, src_step, s->rows, s->cols))
            leaf->transpose[log](dst, dst_step, src, src_step, s->rows, s->cols);
        leaf->fence();
        break;
    case LEAF_TRANSPOSE_AT:
        leaf->transpose_at[log](dst, s->dst.table, src, s->src.table, s->rows, s->cols);
        break;
    default:
        leaf->stream(dst, src, s->size);
        leaf->fence();
    }
}

static void print_layout(FILE *to, const char *name, const struct layout *l)
{
    fprintf(to, " %s=%zu:%zu/%zu", name, l->inner, l->step, l->outer_step);
    if (l->begin > 0)
        fprintf(to, " from %zu on", l->begin);
    if (l->seed)
        fprintf(to, " moved by up to %zu, shuffled", l->slack);
}

void shape_print(FILE *to, const struct shape *s)
{
    fprintf(to, "%s", shape_kind_name(s->kind));
    if (s->kind == LEAF_GATHER || shape_is_transpose(s))
        fprintf(to, "[%d] rows=%zu cols=%zu", size_log(s->size), s->rows, s->cols);
    else if (s->kind == LEAF_BORDERED)
        fprintf(to, " run=%zu+%zu+%zu rows=%zu", s->before, s->size, s->after, s->rows);
    else
        fprintf(to, " run=%zu rows=%zu", s->size, s->rows);
    if (s->kind == LEAF_GATHER)
        fprintf(to, " step=%zu", s->gather_step);
    print_layout(to, "dst", &s->dst);
    if (s->kind != LEAF_FILL)
        print_layout(to, "src", &s->src);
    fprintf(to, " idle=%zu", s->idle);
}
