/* SPDX-License-Identifier: BSD-3-Clause */
/* How transposes go through memory: what tile.h asks for, whatever the width of a vector. */
#ifndef MLI_EXEC_TILE_BLOCK_H
#define MLI_EXEC_TILE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Fetches a line that the next tile writes, for writing. */
static inline __attribute__((always_inline)) void tile_prefetch(uint8_t *at)
{
    __builtin_prefetch(at, 1, 3);
}

/*
 * Columns of a block: each takes a line of the first-level cache, and columns whose distance is a
 * multiple of a large power of two share few of its sets.
 */
static inline size_t tile_block(size_t src_step, size_t wide)
{
    enum { SET_SPAN = 4096, LINE = 64, LINES = 512 };
    const size_t low_bit = src_step & -src_step;
    size_t columns = LINES;

    if (low_bit >= 2 * LINE)
        columns = LINES / (low_bit < SET_SPAN ? low_bit / LINE : SET_SPAN / LINE);
    return columns > wide ? columns / wide * wide : wide;
}

#endif /* MLI_EXEC_TILE_BLOCK_H */
