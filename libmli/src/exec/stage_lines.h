/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stage for rows of the destination that are apart: a block of each row at a time. A block
 * begins and ends inside a cache line; its end stays on the stage until the next block completes
 * the line. Meanwhile the source of the next block is prefetched.
 */
#ifndef MLI_EXEC_STAGE_LINES_H
#define MLI_EXEC_STAGE_LINES_H

#include "libmli/src/exec/level.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"

enum {
    /* Without a level that streams, the stage is not used. */
    STAGE_BYTES = LEVEL_STREAMS ? TUNE_STAGE_ROOM : TUNE_LINE,
};

/* Returns the bytes from one row on the stage to the next: a block and its edges. */
static inline size_t stage_pitch(void)
{
    return TUNED(stage_width) + TUNE_STAGE_EDGES;
}

/* Returns this thread's stage: STAGE_BYTES, aligned to a cache line. */
uint8_t *stage_lines(void);

/*
 * Returns the place on the stage of a block for `to`, if its lines begin at `slot`: at to's offset
 * in a line.
 */
static inline uint8_t *stage_place(uint8_t *slot, const uint8_t *to)
{
    return slot + (uintptr_t)to % TUNE_LINE;
}

/*
 * Writes the complete lines of a block: `width` bytes of a row, on the stage for `to`. Keeps the
 * rest in the slot for the next block. Every block but the row's last has at least a line.
 */
void stage_flush(const struct leaf_table *leaf, uint8_t *to, uint8_t *slot, size_t width,
                 bool is_first, bool is_last);

/* Columns of the source that will be read soon, of `bytes` bytes each. */
struct stage_fetch {
    const uint8_t *base;
    const size_t *at; /* offsets at which the columns begin */
    size_t columns, bytes;
    size_t done; /* prefetched bytes of the first column */
};

/* Returns the number of lines to prefetch at a time, to prefetch all in `times` calls. */
size_t stage_fetch_share(const struct stage_fetch *fetch, size_t times);

/* Prefetches the next `lines` lines, if there are any left. */
void stage_fetch_some(struct stage_fetch *fetch, size_t lines);

#endif /* MLI_EXEC_STAGE_LINES_H */
