/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks for the pieces of a plan: the values of the registers of one logical channel.
 *
 * The controller divides a block into frames, and a frame into elements. A piece becomes a block in
 * one of two forms:
 *   rows       a frame is a row; its elements are contiguous
 *   elements   an element is a row of 1, 2 or 4 bytes; a frame is the inner loop, and the block is
 *              the outer loop: two loops in one block, as a transpose needs them
 */
#ifndef MLI_OMAP_BLOCK_H
#define MLI_OMAP_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "libmli/port/omap/omap_registers.h"
#include "mli_engine.h"

struct omap_block {
    uint32_t ccr; /* without OMAP_ENABLE */
    uint32_t csdp, cen, cfn, cssa, cdsa, csei, csfi, cdei, cdfi;
};

/** Sets the limits of a piece in the form of rows: they hold for every plan. */
void omap_block_limits(struct mli_channel_caps *caps);

/**
 * Sets the limits of the pieces of one plan: those of the form that needs fewer blocks. *caps has
 * what omap_block_limits() and the options say.
 */
void omap_block_limits_of(const struct mli_plan *plan, struct mli_channel_caps *caps);

/** Encodes a piece. Returns false if it has an address beyond the 32 bits of the bus. */
bool omap_block_encode(struct omap_block *block, const struct mli_descriptor *piece);

/** Returns the number of rows of a piece before the address CDAC of the next write. */
uint64_t omap_block_rows(const struct omap_block *block, const struct mli_descriptor *piece,
                         uint32_t cdac);

#endif /* MLI_OMAP_BLOCK_H */
