/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of a plan for the engine fault: all of the plan in another order, or only the rows before
 * a place (split.h has an overview of all cutters).
 */
#ifndef MLI_DMA_FAULT_PIECES_H
#define MLI_DMA_FAULT_PIECES_H

#include "mli_engine.h"

/* A descriptor of a plan, and a row in it. */
struct place {
    uint32_t descriptor;
    uint64_t row;
};

struct pieces {
    uint32_t step, steps; /* number of pieces returned, and of all pieces; some are empty */
    uint32_t stride;      /* distance of successive pieces, modulo steps; 0: pieces before `end` */
    struct place end;     /* place where the pieces stop, if stride is 0 */
};

/** Begins the pieces of the whole plan, in an order that depends on `random`. */
void pieces_shuffled(struct pieces *pieces, const struct mli_plan *plan, uint64_t random);

/** Begins the pieces that come before a place, in the order of the plan. */
void pieces_before(struct pieces *pieces, const struct place *place);

/** Sets *piece to the next piece; false at the end. */
bool pieces_next(struct pieces *pieces, const struct mli_plan *plan, struct mli_descriptor *piece);

#endif /* MLI_DMA_FAULT_PIECES_H */
