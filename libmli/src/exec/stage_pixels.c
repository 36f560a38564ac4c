/* SPDX-License-Identifier: BSD-3-Clause */
/* Streaming transposes to pixels that fill the destination one after the other. */
#include "libmli/src/exec/stage_lines.h"
#include "libmli/src/exec/stage_ways.h"

enum {
    STAGE = 16 * 1024,      /* bytes; the rest of the first-level cache is the source's */
    LONG = 2 * 1024,        /* from here on it streams well */
    PIXEL = 8 * STAGE_LINE, /* that is put together whole; longer ones are a matrix's */
};

bool stage_is_pixels(const struct walk *walk)
{
    const size_t pixel = walk->col[1].count << walk->kernel;

    return walk->kind == WALK_TRANSPOSE && pixel <= PIXEL && walk->row[1].dst_step == pixel &&
           walk->row[1].count * pixel >= LONG;
}

void stage_pixels(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const struct leaf_loop *row = &walk->row[1], *col = &walk->col[1];
    const size_t most = STAGE / row->dst_step;

    for (size_t r = 0; r < row->count; r += most) {
        const size_t count = at_most(row->count - r, most);
        uint8_t *to = dst + r * row->dst_step;

        leaf->transpose[walk->kernel](stage_place(stage_lines(), to), row->dst_step,
                                      src + (r << walk->kernel), col->src_step, count, col->count);
        stage_flush(leaf, to, stage_lines(), count * row->dst_step, r == 0,
                    r + count == row->count);
    }
}
