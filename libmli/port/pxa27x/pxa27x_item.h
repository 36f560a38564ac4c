/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors for the pieces of a plan. */
#ifndef MLI_PXA27X_ITEM_H
#define MLI_PXA27X_ITEM_H

#include "libmli/port/common/chain.h"
#include "libmli/port/pxa27x/pxa27x_registers.h"

/** Sets the limits of a piece. */
void pxa27x_item_limits(struct mli_channel_caps *caps);

/**
 * Writes the descriptor of a piece, with the bits `command` in DCMD too. Returns false if the piece
 * has an address that the bus does not have.
 */
bool pxa27x_item_encode(struct pxa27x_item *item, const struct mli_descriptor *piece,
                        uint32_t command);

/** Links the descriptors of a chain, and writes them from the cache to memory. */
void pxa27x_item_link(struct pxa27x_item *items, uint32_t count);

/** Returns the address of a descriptor on the bus. */
uint32_t pxa27x_item_bus(const struct pxa27x_item *item);

/**
 * Returns the number of the descriptor that a channel executes. Its register DDADR has the address
 * of the next descriptor, or the bit STOP if the channel executes the last of `count` descriptors.
 * Returns 0 if no descriptor has this address.
 */
uint32_t pxa27x_item_before(const struct pxa27x_item *items, uint32_t count, uint32_t ddadr);

#endif /* MLI_PXA27X_ITEM_H */
