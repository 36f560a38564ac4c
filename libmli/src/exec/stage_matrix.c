/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming transposes whose rows lie apart. Blocks of many rows, so that the source is read in
 * long pieces, by a few lines of columns. A block ends in the middle of a line in each row; this
 * end stays on the stage until the next block completes the line.
 */
#include "stage.h"

#include "../bytes.h"
#include "../error.h"
#include "level.h"

enum {
    LINE = 64,
    HEIGHT = 512, /* bytes of a column that are read at a time */
    WIDTH = 256,  /* bytes of a row that are written at a time */
    PITCH_MAX = WIDTH + 2 * LINE,
    /* Where no level streams nobody is asked for it. */
    STAGE = LEVEL_STREAMS ? HEIGHT * PITCH_MAX + 4 * LINE : LINE,
};

/* Larger than the first-level cache, but the second holds it, and a stack need not. */
static MLI_THREAD_LOCAL _Alignas(LINE) uint8_t stage[STAGE];

/* Columns [begin, end) of a strip of rows, of `total`, in bytes of the destination. */
struct block {
    size_t begin, end, total;
};

/*
 * Writes what is complete of a row. `at` is where the block begins on the stage, as far into a line
 * as `to` in the destination.
 */
static void flush_row(const struct leaf_table *leaf, uint8_t *to, uint8_t *at,
                      const struct block *block)
{
    const size_t kept = block->begin > 0 ? (uintptr_t)to % LINE : 0;
    const size_t width = block->end - block->begin;
    const size_t rest = block->end < block->total ? ((uintptr_t)to + width) % LINE : 0;

    if (kept + width > rest)
        leaf->stream(to - kept, at - kept, kept + width - rest);
    if (rest > 0)
        copy_bytes(at - rest, at + width - rest, LINE);
}

static void move_strip(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                       const uint8_t *src, size_t rows)
{
    const size_t dst_step = walk->row[1].dst_step, src_step = walk->col[1].src_step;
    const size_t pitch = WIDTH + LINE + dst_step % LINE;
    uint8_t *at = stage + LINE + (uintptr_t)dst % LINE;
    struct block block = {.total = walk->col[1].count << walk->kernel};

    for (; block.begin < block.total; block.begin = block.end) {
        block.end = block.begin + at_most(block.total - block.begin, WIDTH);
        leaf->transpose[walk->kernel](at, pitch, src + (block.begin >> walk->kernel) * src_step,
                                      src_step, rows, (block.end - block.begin) >> walk->kernel);
        for (size_t r = 0; r < rows; r++)
            flush_row(leaf, dst + r * dst_step + block.begin, at + r * pitch, &block);
    }
}

/*
 * Fewer rows are as many streams of writes as the processor follows by itself, and their columns
 * are short.
 */
enum { ROWS_MIN = 48, COLS_MIN = 8 * LINE /* bytes */ };

bool stage_is_matrix(const struct walk *walk)
{
    return walk->kind == WALK_TRANSPOSE && walk->row[1].count >= ROWS_MIN &&
           walk->col[1].count << walk->kernel >= COLS_MIN;
}

void stage_matrix(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const size_t height = (size_t)HEIGHT >> walk->kernel;

    for (size_t r = 0; r < walk->row[1].count; r += height)
        move_strip(leaf, walk, dst + r * walk->row[1].dst_step, src + (r << walk->kernel),
                   at_most(walk->row[1].count - r, height));
}
