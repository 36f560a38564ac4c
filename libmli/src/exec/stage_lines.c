/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/stage_lines.h"

#include "libmli/src/bytes.h"
#include "libmli/src/error.h"

/*
 * The stage: larger than the first-level cache, but it fits in the second-level cache. Not on the
 * stack, which may be small.
 */
static MLI_THREAD_LOCAL _Alignas(TUNE_LINE) uint8_t stage[STAGE_BYTES];

uint8_t *stage_lines(void)
{
    return stage;
}

void stage_flush(const struct leaf_table *leaf, uint8_t *to, uint8_t *slot, size_t width,
                 bool is_first, bool is_last)
{
    uint8_t *at = stage_place(slot, to);
    const size_t kept = is_first ? 0 : (uintptr_t)to % TUNE_LINE;
    const size_t rest = is_last ? 0 : ((uintptr_t)to + width) % TUNE_LINE;

    if (kept + width > rest)
        leaf->stream(to - kept, at - kept, kept + width - rest);
    if (rest > 0)
        copy_bytes(slot, at + width - rest, TUNE_LINE);
}

size_t stage_fetch_share(const struct stage_fetch *fetch, size_t times)
{
    return fetch->columns * (fetch->bytes / TUNE_LINE + 1) / times + 1;
}

void stage_fetch_some(struct stage_fetch *fetch, size_t lines)
{
    /*
     * Fetches into the second-level cache, which can wait for more lines at a time than the
     * first-level cache can.
     */
    enum { TO_READ = 0, TO_SECOND_LEVEL = 2 };

    for (; lines > 0 && fetch->columns > 0; lines--) {
        __builtin_prefetch(fetch->base + *fetch->at + fetch->done, TO_READ, TO_SECOND_LEVEL);
        fetch->done += TUNE_LINE;
        if (fetch->done < fetch->bytes)
            continue;
        fetch->done = 0;
        fetch->at++;
        fetch->columns--;
    }
}
