/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of ZDMA elements for the pieces of a plan. Each piece is one element of the source queue
 * and one of the destination queue. Every destination element asks to be counted (INTR), so the
 * number of pieces that are in memory is known when a channel stops.
 */
#ifndef MLI_ZDMA_LIST_H
#define MLI_ZDMA_LIST_H

#include "boards/drivers/zdma/zdma_engine.h"
#include "boards/drivers/zdma/zdma_registers.h"

/* The place in the plan where a piece begins, and its size. */
struct zdma_place {
    uint64_t row;
    uint32_t index, bytes;
};

/*
 * Words of the elements of a list, at an address that is a multiple of their size: a channel
 * fetches linear elements within one page of 4096 bytes.
 */
enum { ZDMA_LIST_WORDS = ZDMA_LIST_MAX * 2 * ZDMA_LINKED_WORDS };
_Static_assert(ZDMA_LIST_MAX > 0 && ZDMA_LIST_MAX <= 128 &&
                   (ZDMA_LIST_MAX & (ZDMA_LIST_MAX - 1)) == 0,
               "ZDMA_LIST_MAX must be a power of two, at most 128");

/*
 * The elements that a channel executes without the processor. If `fill` is not null, there are no
 * elements: the list is one fill of `bytes` bytes, for the write-only mode of the channel.
 */
struct zdma_list {
    /* Linked: pairs of a source and a destination element. Linear: all sources come first. */
    uint32_t *words;
    struct zdma_place place[ZDMA_LIST_MAX];
    uint32_t count; /* number of pieces */
    size_t bytes;   /* their sizes added up */
    uint8_t *fill;
};

/* The form of lists. */
struct zdma_form {
    uint32_t elements; /* most pieces of a list */
    size_t bytes;      /* a list ends when it has this number of bytes */
    bool linear, coherent;
};

/* The pieces of a plan, from the first one that is in no list yet. */
struct zdma_rest {
    struct mli_legaliser legaliser;
    bool more;                   /* false: the plan has no more pieces */
    struct mli_descriptor piece; /* the next piece, or what is left of it */
};

/** Starts at the first piece of a plan. Pieces are within *caps, which has no loops. */
void zdma_rest_init(struct zdma_rest *rest, const struct mli_plan *plan,
                    const struct mli_channel_caps *caps);

/** Moves on to the piece after rest->piece. */
void zdma_rest_next(struct zdma_rest *rest);

/**
 * Makes a list of the next pieces of the channel. Its count is 0 if there are none; rest->piece is
 * then the first piece of the processor, unless the plan has no more.
 */
void zdma_list_fill(struct zdma_list *list, struct zdma_rest *rest, const struct zdma_form *form);

/** Returns the first destination element. The first source element is list->words. */
const uint32_t *zdma_list_destinations(const struct zdma_list *list, const struct zdma_form *form);

/** Writes the elements from the cache to memory, for a channel that does not see the cache. */
void zdma_list_clean(const struct zdma_list *list, const struct zdma_form *form);

/** Writes the source of fills from the cache to memory. Call it once. */
void zdma_zeros_clean(void);

/** Returns the bytes of the first `count` pieces. */
size_t zdma_list_written(const struct zdma_list *list, uint32_t count);

#endif /* MLI_ZDMA_LIST_H */
