/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan done bit by bit: in another order than it says, or only up to a place in it. */
#ifndef MLI_DMA_FAULT_PIECES_H
#define MLI_DMA_FAULT_PIECES_H

#include "mli_engine.h"

/* A descriptor of a plan, and a row in it. */
struct place {
    uint32_t descriptor;
    uint64_t row;
};

struct pieces {
    uint32_t step, steps; /* that were done, and that there are; some are empty */
    uint32_t stride;      /* from one piece to the next, around and around; 0: cut off */
    struct place end;     /* cut off: what lies before it */
};

/** All of the plan, in an order that `random` chooses. */
void pieces_shuffled(struct pieces *pieces, const struct mli_plan *plan, uint64_t random);

/** What lies before a place, in its own order. */
void pieces_before(struct pieces *pieces, const struct place *place);

/** The next piece; false at the end. */
bool pieces_next(struct pieces *pieces, const struct mli_plan *plan, struct mli_descriptor *piece);

#endif /* MLI_DMA_FAULT_PIECES_H */
