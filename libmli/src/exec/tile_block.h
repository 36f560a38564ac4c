/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In what order transposes go through memory, whatever the width of a vector: blocks of columns, in
 * these strips of rows, in these the columns. Where the columns of the source begin at the same few
 * places of a line, a strip is all rows of two lines, and the lines are used up at once. Where they
 * begin anywhere, a strip is a tile: new lines come evenly, the next strip finds the old ones, and
 * the destination is written in longer pieces. So it is, too, where rows of the destination are so
 * far apart that their lines are all in the same few sets of the cache.
 */
#ifndef MLI_EXEC_TILE_BLOCK_H
#define MLI_EXEC_TILE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/src/exec/tuning.h"

enum { TILE_BYTES = 16 }; /* of a column of a tile: a vector lane */

static inline bool tile_is_aligned(size_t src_step)
{
    return src_step % TILE_BYTES == 0;
}

/* Are lines of neighbouring rows of the destination all in the same few sets? */
static inline bool tile_collides(size_t dst_step)
{
    return dst_step % TUNE_SETS == 0;
}

/* Columns of a block: where strips are tiles, as many as have a line each in the cache. */
static inline size_t tile_block(size_t src_step, size_t dst_step)
{
    const size_t room = src_step > 0 ? TUNE_TILE_SOURCE / src_step : TUNE_TILE_COLUMNS_MAX;

    if (!tile_is_aligned(src_step))
        return TUNE_TILE_COLUMNS_MAX / 2;
    if (!tile_collides(dst_step) || room > TUNE_TILE_COLUMNS_MAX)
        return TUNE_TILE_COLUMNS_MAX;
    return room > TUNE_TILE_COLUMNS_MIN ? room / TUNE_TILE_COLUMNS_MIN * TUNE_TILE_COLUMNS_MIN
                                        : TUNE_TILE_COLUMNS_MIN;
}

/* Rows of a strip, of elements of so many bytes. */
static inline size_t tile_strip(size_t src_step, size_t dst_step, size_t elem)
{
    const bool lines = tile_is_aligned(src_step) && !tile_collides(dst_step);

    return (lines ? 2 * TUNE_LINE : TILE_BYTES) / elem;
}

/* Have a tile's lines and those of the next room side by side in the first-level cache? */
static inline bool tile_has_room(size_t dst_step, size_t elem)
{
    return !tile_collides(dst_step) || TILE_BYTES / elem <= 8;
}

/*
 * Columns before the first one with which a line of the destination begins, in all rows; 0 where
 * rows begin at different places of a line.
 */
static inline size_t tile_lead(const uint8_t *dst, size_t dst_step, size_t elem)
{
    const size_t before = -(uintptr_t)dst % TUNE_LINE;

    return dst_step % TUNE_LINE == 0 && before % elem == 0 ? before / elem : 0;
}

#endif /* MLI_EXEC_TILE_BLOCK_H */
