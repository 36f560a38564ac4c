/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of control blocks, and the pieces of the plan that they move. */
#ifndef MLI_BCM2835_LIST_H
#define MLI_BCM2835_LIST_H

#include "libmli/port/bcm2835/bcm2835_block.h"
#include "libmli/port/bcm2835/bcm2835_engine.h"

struct bcm2835_list {
    _Alignas(32) struct bcm2835_block blocks[BCM2835_BLOCKS_MAX];
    struct mli_descriptor pieces[BCM2835_BLOCKS_MAX];
    uint32_t count, reaped; /* pieces, and those that are complete and counted */
};

/** The pieces of a plan that are in no list. */
struct bcm2835_rest {
    struct mli_legaliser legaliser;
    enum bcm2835_kind kind;      /* of the channel */
    uint32_t list_max;           /* most blocks of a list */
    bool for_processor;          /* the processor must move `piece`, while the channel is idle */
    struct mli_descriptor piece; /* the last piece from the legaliser */
};

/**
 * Fills an empty list with the next pieces, up to a piece for the processor, and cleans the cache.
 */
void bcm2835_list_fill(struct bcm2835_list *list, struct bcm2835_rest *rest);

/** Returns the bus address of the first block. */
uint32_t bcm2835_list_address(const struct bcm2835_list *list);

/** Returns whether all pieces are counted: the list may be filled. */
bool bcm2835_list_is_reaped(const struct bcm2835_list *list);

/**
 * Returns the number of blocks before the one at the bus address `block`, which CONBLK_AD has; the
 * number of counted pieces if the block is in no list.
 */
uint32_t bcm2835_list_position(const struct bcm2835_list *list, uint32_t block);

/**
 * Counts at most `budget` pieces as complete, up to the piece `upto`. Returns their number, and
 * adds their bytes to *written.
 */
uint32_t bcm2835_list_reap(struct bcm2835_list *list, uint32_t upto, uint32_t budget,
                           size_t *written);

#endif /* MLI_BCM2835_LIST_H */
