/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which transposes go through memory, for any width of vector: one block of columns
 * after the other; in a block, one strip of rows after the other; in a strip, one column after the
 * other. A column is contiguous in the source.
 *
 * The height of a strip: if all columns begin at the same few offsets in a cache line, a strip is
 * two lines of the source high, so that both lines are used up at once. If the offsets differ, a
 * strip is one tile high: the next strip finds the rest of each line in the cache, and the
 * destination is written in longer pieces. A strip is also one tile high if neighbouring rows of
 * the destination compete for a few sets of the cache.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/src/exec/tuning.h"

enum { TILE_BYTES = 16 }; /* a column of a tile has the bytes of a vector lane */

static inline bool tile_is_aligned(size_t src_step)
{
    return src_step % TILE_BYTES == 0;
}

/* Returns whether lines of neighbouring rows of the destination share a few sets of the cache. */
static inline bool tile_collides(size_t dst_step)
{
    return dst_step % TUNE_SETS == 0;
}

/*
 * Returns the number of columns of a block. If strips are tiles, the cache holds a line of each of
 * these columns.
 */
static inline size_t tile_block(size_t src_step, size_t dst_step)
{
    const size_t room = src_step > 0 ? TUNED(tile_source_bytes) / src_step : TUNED(tile_columns);

    if (!tile_is_aligned(src_step))
        return TUNED(tile_columns) / 2;
    if (!tile_collides(dst_step) || room > TUNED(tile_columns))
        return TUNED(tile_columns);
    return room > TUNE_TILE_COLUMNS_MIN ? room / TUNE_TILE_COLUMNS_MIN * TUNE_TILE_COLUMNS_MIN
                                        : TUNE_TILE_COLUMNS_MIN;
}

/* Returns the number of rows of a strip, for elements of `elem` bytes. */
static inline size_t tile_strip(size_t src_step, size_t dst_step, size_t elem)
{
    const bool lines = tile_is_aligned(src_step) && !tile_collides(dst_step);

    return (lines ? 2 * TUNE_LINE : TILE_BYTES) / elem;
}

/* Returns whether the first-level cache has space for the lines of a tile and of the next tile. */
static inline bool tile_has_room(size_t dst_step, size_t elem)
{
    return !tile_collides(dst_step) || TILE_BYTES / elem <= 8;
}

/*
 * Returns the number of columns before the first cache line that begins in a row of the
 * destination. Returns 0 if this number is not the same in all rows.
 */
static inline size_t tile_lead(const uint8_t *dst, size_t dst_step, size_t elem)
{
    const size_t before = -(uintptr_t)dst % TUNE_LINE;

    return dst_step % TUNE_LINE == 0 && before % elem == 0 ? before / elem : 0;
}
