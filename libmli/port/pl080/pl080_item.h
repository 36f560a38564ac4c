/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked list items for the pieces of a plan. */
#ifndef MLI_PL080_ITEM_H
#define MLI_PL080_ITEM_H

#include "libmli/port/common/chain.h"
#include "libmli/port/pl080/pl080_engine.h"
#include "libmli/port/pl080/pl080_registers.h"

/** Sets the limits of a piece. */
void pl080_item_limits(struct mli_channel_caps *caps);

/**
 * Writes the items of a piece. Returns their number, 1 to PL080_PIECE_ITEMS; 0 if the piece has an
 * address that the bus does not have.
 */
uint32_t pl080_item_encode(struct pl080_item *items, const struct mli_descriptor *piece);

/** Links the items of a chain, and writes them from the cache to memory. */
void pl080_item_link(struct pl080_item *items, uint32_t count);

/**
 * Returns the number of the item that a channel executes. Its register LLI has the bus address of
 * the next item, or 0 if the channel executes the last of `count` items. Returns 0 if no item has
 * this address.
 */
uint32_t pl080_item_before(const struct pl080_item *items, uint32_t count, uint32_t lli);

#endif /* MLI_PL080_ITEM_H */
