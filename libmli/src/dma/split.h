/* SPDX-License-Identifier: BSD-3-Clause */
/* One plan as several: for channels that share a transfer, and for whoever does it bit by bit. */
#ifndef MLI_DMA_SPLIT_H
#define MLI_DMA_SPLIT_H

#include "mli_engine.h"

/**
 * Cuts a plan into at most `parts` disjoint ones, out[0] first in the order of the destination's
 * rows, with about as many bytes each. Cuts lie between rows, and where rows are shorter than a
 * cache line between lines. Returns how many there are, all of them with something to do.
 */
size_t split_plan(const struct mli_plan *plan, size_t parts, struct mli_plan *const out[]);

/**
 * The same for `channels` channels, as far as the parts do not become tiny: `tiny` bytes and fewer
 * are not worth a channel. Returns how many parts there are, at least 1.
 */
size_t split_among(const struct mli_plan *plan, size_t channels, size_t tiny,
                   struct mli_plan *const out[]);

/** Nothing to do. */
void plan_clear(struct mli_plan *plan);

/** Adds a box to a plan that has none, or a slab (src null). Loops of one iteration are dropped. */
void plan_add_box(struct mli_plan *plan, struct mli_copy_box *box);

#endif /* MLI_DMA_SPLIT_H */
