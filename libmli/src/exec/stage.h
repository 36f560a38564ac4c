/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming: stores to large destinations bypass the caches. A kernel writes its rows to a stage
 * buffer, which stays in the first-level or second-level cache, and the level's stream copies whole
 * cache lines from the stage to the destination. So memory need not be read for lines that are
 * overwritten, and the caches keep other data.
 */
#ifndef MLI_EXEC_STAGE_H
#define MLI_EXEC_STAGE_H

#include <stdbool.h>

#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"

/**
 * Moves as walk_move() does, and streams if the walk has a way to stream (stage_ways.h). The caller
 * calls the table's fence after the last call; the table has a stream.
 */
void stage_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src);

/** Returns the minimum size of the moves with this kind of walk that stream. */
size_t stage_least(const struct walk *walk);

/** Returns whether stage_move() streams this walk; if not, it does what walk_move() does. */
bool stage_streams(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                   const uint8_t *src);

/**
 * Adds zeros above and below nest.inner's rows to the walk (walk->above, walk->below), so that
 * stage_move() writes them. Returns false if it cannot.
 */
bool stage_take_zeros(struct walk *walk, size_t above, size_t below);

/** Returns whether to stream a walk that belongs to a move of `bytes` bytes, by the tuning. */
static inline bool stage_pays(const struct walk *walk, size_t bytes)
{
    return bytes >= tuning_now.stream_least && bytes >= stage_least(walk);
}

#endif /* MLI_EXEC_STAGE_H */
