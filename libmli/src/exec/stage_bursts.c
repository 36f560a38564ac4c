/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming rows that lie beside others in the source but not in the destination: some rows of each
 * at a time, so that the source is read from end to end.
 */
#include "libmli/src/exec/stage_lines.h"
#include "libmli/src/exec/stage_ways.h"

/* Bytes of the rows that are written at a time, and where on the stage they begin. */
static size_t slot_of(const struct walk *walk)
{
    return (walk->block * walk->border.run / STAGE_LINE + 2) * STAGE_LINE;
}

bool stage_is_bursts(const struct walk *walk)
{
    const struct leaf_nest *nest = &walk->nest;

    return walk->kind == WALK_ROWS && walk->block < nest->inner.count &&
           walk->border.before + walk->border.after == 0 &&
           nest->inner.dst_step == walk->border.run &&
           walk->block * walk->border.run >= STAGE_LINE &&
           nest->outer.count * slot_of(walk) <= STAGE_BYTES;
}

/* Some rows of each: to slots of the stage. */
static void move_to_slots(const struct leaf_table *leaf, const struct walk *walk,
                          const struct leaf_nest *nest, size_t slot)
{
    struct leaf_nest part = *nest;

    part.outer.count = 1;
    for (size_t i = 0; i < nest->outer.count; i++) {
        part.dst = stage_place(stage_lines() + i * slot, nest->dst + i * nest->outer.dst_step);
        part.src = nest->src + i * nest->outer.src_step;
        walk_move_rows(leaf, walk, &part);
    }
}

void stage_bursts(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                  const uint8_t *src)
{
    const struct leaf_loop *inner = &walk->nest.inner, *outer = &walk->nest.outer;
    const size_t run = walk->border.run, slot = slot_of(walk), first = 0;
    struct leaf_nest part = walk->nest;

    for (size_t i = 0; i < inner->count; i += walk->block) {
        const size_t some = at_most(inner->count - i, walk->block),
                     after = at_most(inner->count - i - some, walk->block);

        part.inner.count = some;
        part.dst = dst + i * inner->dst_step;
        part.src = src + i * inner->src_step;
        struct stage_fetch next = {part.src + some * inner->src_step, &first, after > 0,
                                   after * inner->src_step, 0};
        const size_t share = stage_fetch_share(&next, outer->count);

        move_to_slots(leaf, walk, &part, slot);
        for (size_t k = 0; k < outer->count; k++) {
            stage_flush(leaf, part.dst + k * outer->dst_step, stage_lines() + k * slot, some * run,
                        i == 0, after == 0);
            stage_fetch_some(&next, share);
        }
    }
}
