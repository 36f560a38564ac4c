/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming rows of the destination that lie apart, a block of each at a time. A block begins and
 * ends in the middle of a line; the end stays on the stage until the next block completes the line.
 * Meanwhile the source of the next block is fetched.
 */
#ifndef MLI_EXEC_STAGE_LINES_H
#define MLI_EXEC_STAGE_LINES_H

#include "libmli/src/exec/level.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"

enum {
    /* Bytes from one row on the stage to the next: a block, and a line at either end. */
    STAGE_PITCH = TUNE_STAGE_WIDTH + 2 * TUNE_LINE,
    /* Without a level that streams, the stage is not used. */
    STAGE_BYTES = LEVEL_STREAMS ? TUNE_STAGE_ROWS * STAGE_PITCH : TUNE_LINE,
};

/* STAGE_BYTES that begin with a line: this thread's. */
uint8_t *stage_lines(void);

/* Where on the stage a block for `to` begins, if its lines begin at `slot`: as far into a line. */
static inline uint8_t *stage_place(uint8_t *slot, const uint8_t *to)
{
    return slot + (uintptr_t)to % TUNE_LINE;
}

/*
 * Writes what is complete of the `width` bytes of a row that are on the stage for `to`, and keeps
 * the rest for the next block in the same slot. Of all blocks but the row's last, at least a line
 * has to be there.
 */
void stage_flush(const struct leaf_table *leaf, uint8_t *to, uint8_t *slot, size_t width,
                 bool is_first, bool is_last);

/* Columns of the source, each of so many bytes, that will be needed soon. */
struct stage_fetch {
    const uint8_t *base;
    const size_t *at; /* where each column begins */
    size_t columns, bytes;
    size_t done; /* bytes of the first of them */
};

/* Lines to fetch at a time, if that is done so often. */
size_t stage_fetch_share(const struct stage_fetch *fetch, size_t times);

/* The next few lines, as long as there are any. */
void stage_fetch_some(struct stage_fetch *fetch, size_t lines);

#endif /* MLI_EXEC_STAGE_LINES_H */
