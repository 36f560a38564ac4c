/* SPDX-License-Identifier: BSD-3-Clause */
/* Control blocks for the pieces of a plan. */
#ifndef MLI_BCM2835_BLOCK_H
#define MLI_BCM2835_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "boards/drivers/bcm2835/bcm2835_registers.h"
#include "mli_engine.h"

/** A channel, as its control blocks depend on it. */
enum bcm2835_kind { BCM2835_FULL, BCM2835_LITE };

/** Sets the limits of a control block: loops and bytes. */
void bcm2835_block_limits(enum bcm2835_kind kind, struct mli_channel_caps *caps);

/**
 * Encodes a piece; the block ends a chain. Returns false if the piece has an address beyond the 32
 * bits of the bus: the processor must move it.
 */
bool bcm2835_block_encode(struct bcm2835_block *block, enum bcm2835_kind kind,
                          const struct mli_descriptor *piece);

/** Makes the block at address `next` of the bus follow the block, in place of the end. */
void bcm2835_block_link(struct bcm2835_block *block, uint32_t next);

/**
 * Returns the number of rows of a piece that are written, from the registers TXFR_LEN and DEST_AD
 * of a channel that has stopped in its block.
 */
uint64_t bcm2835_block_rows(const struct bcm2835_block *block, const struct mli_descriptor *piece,
                            uint32_t txfr_len, uint32_t dest_ad);

#endif /* MLI_BCM2835_BLOCK_H */
