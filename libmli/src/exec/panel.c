/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

enum { PANEL = 256 }; /* rows, and columns, of which there are tables at a time */

/* What columns of zeros are read from. */
static const uint8_t zeros[PANEL * sizeof(uint64_t)];

/* at[i] = first + i * step; returns what follows. */
static size_t *count_up(size_t *at, size_t count, size_t first, size_t step)
{
    for (size_t i = 0; i < count; i++)
        at[i] = first + i * step;
    return at + count;
}

/* How far a walk over two loops has come. */
struct progress {
    size_t outer, inner;
};

/* Where the next `count` rows are. */
static void locate_rows(size_t *at, const struct leaf_loop *row, struct progress *p, size_t count)
{
    for (size_t *end = at + count; at < end;) {
        const size_t some = at_most((size_t)(end - at), row[1].count - p->inner);

        at = count_up(at, some, p->outer * row[0].dst_step + p->inner * row[1].dst_step,
                      row[1].dst_step);
        p->inner += some;
        if (p->inner == row[1].count)
            *p = (struct progress){p->outer + 1, 0};
    }
}

/* The columns of a walk: some of zeros, some of the source, some of zeros, and again. */
struct columns {
    const struct leaf_loop *loop;
    size_t before, width; /* of zeros, and all that make one iteration of the outer loop */
};

/* Where the next `count` columns are, from a base that is `first` before the source's first and
   `zero` before the zeros. */
static void locate_columns(size_t *at, const struct columns *c, struct progress *p, size_t count,
                           size_t first, size_t zero)
{
    const size_t copied_end = c->before + c->loop[1].count, step = c->loop[1].src_step;

    for (size_t *end = at + count; at < end;) {
        const bool copied = p->inner >= c->before && p->inner < copied_end;
        const size_t until = copied ? copied_end : p->inner < c->before ? c->before : c->width;
        const size_t some = at_most((size_t)(end - at), until - p->inner);

        if (copied)
            at = count_up(at, some,
                          first + p->outer * c->loop[0].src_step + (p->inner - c->before) * step,
                          step);
        else
            at = count_up(at, some, zero, 0);
        p->inner += some;
        if (p->inner == c->width)
            *p = (struct progress){p->outer + 1, 0};
    }
}

/* The lower one of the source and the zeros. */
static const uint8_t *base_of(const uint8_t *src, bool has_zeros)
{
    return has_zeros && (uintptr_t)zeros < (uintptr_t)src ? zeros : src;
}

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src)
{
    const struct leaf_loop *row = walk->row;
    const size_t k = walk->kernel, rows = row[0].count * row[1].count;
    const size_t zero_columns = (walk->border.before + walk->border.after) >> k;
    const struct columns columns = {walk->col, walk->border.before >> k,
                                    walk->col[1].count + zero_columns};
    const size_t cols = walk->col[0].count * columns.width;
    struct progress row_progress = {0, 0};
    size_t dst_at[PANEL], src_at[PANEL];

    for (size_t r = 0; r < rows; r += PANEL) {
        const size_t height = at_most(rows - r, PANEL);
        const uint8_t *from = src + (r << k), *base = base_of(from, zero_columns > 0);

        struct progress progress = {0, 0};

        locate_rows(dst_at, row, &row_progress, height);
        for (size_t c = 0; c < cols; c += PANEL) {
            const size_t width = at_most(cols - c, PANEL);

            locate_columns(src_at, &columns, &progress, width, (uintptr_t)from - (uintptr_t)base,
                           (uintptr_t)zeros - (uintptr_t)base);
            leaf->transpose_at[k](dst + (c << k), dst_at, base, src_at, height, width);
        }
    }
}
