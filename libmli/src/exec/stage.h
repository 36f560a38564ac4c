/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large destinations go past the caches: what a kernel moves is put together on a stage, a few
 * pages that stay in the first-level cache, and streamed from there in whole lines. So memory need
 * not be read for lines that are going to be overwritten, and nothing else is driven out of the
 * caches.
 */
#ifndef MLI_EXEC_STAGE_H
#define MLI_EXEC_STAGE_H

#include <stdbool.h>

#include "libmli/src/exec/walk.h"

/**
 * What walk_move() does, streamed where that is possible. The caller calls the table's fence after
 * the last one; the table has a stream.
 */
void stage_move(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                const uint8_t *src);

/** Does stage_move() stream this? Else it does what walk_move() does. */
bool stage_streams(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                   const uint8_t *src);

/**
 * Takes such zeros around nest.inner's rows into the walk (walk->above, walk->below), so that
 * stage_move() writes them; false where it would not.
 */
bool stage_take_zeros(struct walk *walk, size_t above, size_t below);

/**
 * Shall a walk be staged that is part of a move of so many bytes, where all of `min` and more
 * shall?
 */
bool stage_pays(const struct walk *walk, size_t bytes, size_t min);

#endif /* MLI_EXEC_STAGE_H */
