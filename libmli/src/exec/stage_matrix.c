/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming transposes whose rows lie apart. Blocks of many rows, so that the source is read in
 * long pieces, by a few lines of columns.
 */
#include "libmli/src/exec/stage_lines.h"
#include "libmli/src/exec/stage_ways.h"

/* Fewer rows are as many streams of writes as the processor follows by itself, and their columns
   are short. */
enum { ROWS_MIN = 24, COLS_MIN = 8 * STAGE_LINE /* bytes */ };

static void move_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                       const uint8_t *src, const size_t *columns, size_t rows)
{
    const size_t k = walk->kernel, dst_step = walk->row[1].dst_step,
                 src_step = walk->col[1].src_step, total = walk->col[1].count << k;
    const size_t pitch = STAGE_WIDTH + STAGE_LINE + dst_step % STAGE_LINE;
    uint8_t *at = stage_place(stage_lines(), dst);

    for (size_t begin = 0; begin < total; begin += STAGE_WIDTH) {
        const size_t width = at_most(total - begin, STAGE_WIDTH), end = begin + width;
        const uint8_t *from = src + (begin >> k) * src_step;
        struct stage_fetch next = {from + (width >> k) * src_step, columns,
                                   at_most(total - end, STAGE_WIDTH) >> k, rows << k, 0};
        const size_t some = stage_fetch_share(&next, rows);

        leaf->transpose[k](at, pitch, from, src_step, rows, width >> k);
        for (size_t r = 0; r < rows; r++) {
            uint8_t *to = dst + r * dst_step + begin;

            stage_flush(leaf, to, at + r * pitch - (uintptr_t)to % STAGE_LINE, width, begin == 0,
                        end == total);
            stage_fetch_some(&next, some);
        }
    }
}

bool stage_is_matrix(const struct walk *walk)
{
    return walk->kind == WALK_TRANSPOSE && walk->row[1].count >= ROWS_MIN &&
           walk->col[1].count << walk->kernel >= COLS_MIN;
}

void stage_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    size_t columns[STAGE_WIDTH];

    for (size_t c = 0; c < (size_t)STAGE_WIDTH >> walk->kernel; c++)
        columns[c] = c * walk->col[1].src_step;
    for (size_t r = 0; r < walk->row[1].count; r += STAGE_ROWS)
        move_strip(leaf, walk, dst + r * walk->row[1].dst_step, src + (r << walk->kernel), columns,
                   at_most(walk->row[1].count - r, STAGE_ROWS));
}
