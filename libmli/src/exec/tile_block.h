/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In what order transposes go through memory, whatever the width of a vector: blocks of columns, in
 * these strips of rows, in these the columns. Where the columns of the source begin at the same few
 * places of a line, a strip is all rows of two lines, and the lines are used up at once. Where they
 * begin anywhere, a strip is a tile: new lines come evenly, the next strip finds the old ones, and
 * the destination is written in longer pieces.
 */
#ifndef MLI_EXEC_TILE_BLOCK_H
#define MLI_EXEC_TILE_BLOCK_H

#include <stddef.h>

enum { TILE_BYTES = 16 }; /* of a column */

static inline int tile_is_aligned(size_t src_step)
{
    return src_step % TILE_BYTES == 0;
}

/* Columns of a block. */
static inline size_t tile_block(size_t src_step)
{
    return tile_is_aligned(src_step) ? 512 : 256;
}

/* Rows of a strip, of elements of so many bytes. */
static inline size_t tile_strip(size_t src_step, size_t elem)
{
    return (tile_is_aligned(src_step) ? 128 : TILE_BYTES) / elem;
}

#endif /* MLI_EXEC_TILE_BLOCK_H */
