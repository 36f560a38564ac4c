/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of linked list items, and the pieces of the plan that they move. */
#ifndef MLI_PL080_LIST_H
#define MLI_PL080_LIST_H

#include "libmli/port/pl080/pl080_engine.h"
#include "libmli/port/pl080/pl080_registers.h"

enum { PL080_PIECES_MAX = 32 };

struct pl080_list {
    struct pl080_item items[PL080_ITEMS_MAX];
    struct mli_descriptor pieces[PL080_PIECES_MAX];
    uint8_t ends[PL080_PIECES_MAX]; /* the number of items up to the end of each piece */
    uint32_t count;                 /* items */
    uint32_t pieces_count, reaped;  /* pieces, and those that are complete and counted */
};

/** The pieces of a plan that are in no list. */
struct pl080_rest {
    struct mli_legaliser legaliser;
    uint32_t items_max;          /* most items of a list */
    bool for_processor;          /* the processor must move `piece`, while the channel is idle */
    struct mli_descriptor piece; /* the last piece from the legaliser */
};

/** Sets the limits of a piece. */
void pl080_list_limits(struct mli_channel_caps *caps);

/**
 * Fills an empty list with the next pieces, up to a piece for the processor, and cleans the cache.
 */
void pl080_list_fill(struct pl080_list *list, struct pl080_rest *rest);

/** Returns whether all pieces are counted: the list may be filled. */
bool pl080_list_is_reaped(const struct pl080_list *list);

/** Returns the number of items before the one that a channel executes, from its register LLI. */
uint32_t pl080_list_position(const struct pl080_list *list, uint32_t lli);

/** Returns whether the next piece that is not counted is complete after this number of items. */
bool pl080_list_has_complete(const struct pl080_list *list, uint32_t items);

/**
 * Counts at most `budget` pieces as complete, up to this number of items. Returns their number, and
 * adds their bytes to *written.
 */
uint32_t pl080_list_reap(struct pl080_list *list, uint32_t items, uint32_t budget, size_t *written);

#endif /* MLI_PL080_LIST_H */
