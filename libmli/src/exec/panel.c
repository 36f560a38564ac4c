/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

enum { PANEL = 256 }; /* rows, and columns, of which there are tables at a time */

/* Where iterations [begin, begin + count) of two loops are, the inner one of which is inner_count
   long. */
static void locate(size_t *at, size_t outer_step, size_t inner_step, size_t inner_count,
                   size_t begin, size_t count)
{
    size_t outer = begin / inner_count, inner = begin % inner_count;

    for (size_t i = 0; i < count; i++) {
        at[i] = outer * outer_step + inner * inner_step;
        if (++inner == inner_count) {
            inner = 0;
            outer++;
        }
    }
}

static size_t at_most(size_t count, size_t most)
{
    return count < most ? count : most;
}

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src)
{
    const struct leaf_loop *row = walk->row, *col = walk->col;
    const size_t rows = row[0].count * row[1].count, cols = col[0].count * col[1].count;
    size_t dst_at[PANEL], src_at[PANEL];

    for (size_t c = 0; c < cols; c += PANEL) {
        const size_t width = at_most(cols - c, PANEL);

        locate(src_at, col[0].src_step, col[1].src_step, col[1].count, c, width);
        for (size_t r = 0; r < rows; r += PANEL) {
            const size_t height = at_most(rows - r, PANEL);

            locate(dst_at, row[0].dst_step, row[1].dst_step, row[1].count, r, height);
            leaf->transpose_at[walk->kernel](dst + (c << walk->kernel), dst_at,
                                             src + (r << walk->kernel), src_at, height, width);
        }
    }
}
