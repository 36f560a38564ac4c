/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

enum { PANEL = 256 }; /* rows, and columns, of which there are tables at a time */

/* What columns of zeros are read from. */
static const uint8_t zeros[PANEL * sizeof(uint64_t)];

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

/* at[i] = first + i * step; returns what follows. */
static size_t *count_up(size_t *at, size_t count, size_t first, size_t step)
{
    for (size_t i = 0; i < count; i++)
        at[i] = first + i * step;
    return at + count;
}

/* Where rows [begin, begin + count) are. */
static void locate_rows(size_t *at, const struct leaf_loop *row, size_t begin, size_t count)
{
    size_t outer = begin / row[1].count, inner = begin % row[1].count;

    for (size_t *end = at + count; at < end; outer++, inner = 0) {
        const size_t some = at_most((size_t)(end - at), row[1].count - inner);

        at = count_up(at, some, outer * row[0].dst_step + inner * row[1].dst_step, row[1].dst_step);
    }
}

/* The columns of a walk: some of zeros, some of the source, some of zeros, and again. */
struct columns {
    const struct leaf_loop *loop;
    size_t before, width; /* of zeros, and all that make one iteration of the outer loop */
};

/* Where columns [begin, begin + count) are, from a base that is `first` before the source's first
   and `zero` before the zeros. */
static void locate_columns(size_t *at, const struct columns *c, size_t begin, size_t count,
                           size_t first, size_t zero)
{
    const size_t copied_end = c->before + c->loop[1].count, step = c->loop[1].src_step;
    size_t outer = begin / c->width, inner = begin % c->width;

    for (size_t *end = at + count; at < end; outer++, inner = 0) {
        const size_t line = first + outer * c->loop[0].src_step;

        if (inner < c->before) {
            const size_t some = at_most((size_t)(end - at), c->before - inner);

            at = count_up(at, some, zero, 0);
            inner += some;
        }
        if (inner < copied_end) {
            const size_t some = at_most((size_t)(end - at), copied_end - inner);

            at = count_up(at, some, line + (inner - c->before) * step, step);
            inner += some;
        }
        at = count_up(at, at_most((size_t)(end - at), c->width - inner), zero, 0);
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
    size_t dst_at[PANEL], src_at[PANEL];

    for (size_t r = 0; r < rows; r += PANEL) {
        const size_t height = at_most(rows - r, PANEL);
        const uint8_t *from = src + (r << k), *base = base_of(from, zero_columns > 0);

        locate_rows(dst_at, row, r, height);
        for (size_t c = 0; c < cols; c += PANEL) {
            const size_t width = at_most(cols - c, PANEL);

            locate_columns(src_at, &columns, c, width, (uintptr_t)from - (uintptr_t)base,
                           (uintptr_t)zeros - (uintptr_t)base);
            leaf->transpose_at[k](dst + (c << k), dst_at, base, src_at, height, width);
        }
    }
}
