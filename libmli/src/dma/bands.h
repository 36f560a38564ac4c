/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan in pieces for the processor: the copy box is cut by the legaliser, and zeros beside its
 * rows are moved with them, so that their lines are touched once.
 */
#ifndef MLI_DMA_BANDS_H
#define MLI_DMA_BANDS_H

#include "libmli/src/plan.h"
#include "mli_engine.h"

struct bands {
    struct mli_legaliser legaliser;
    uint32_t beside; /* bit i: slab i lies beside the rows of the box */
};

/* Where a band begins, and what it is. */
struct band {
    struct mli_plan plan;
    uint32_t descriptor;
    uint64_t row;
};

/** Bands of about `bytes`; the plan stays where it is. */
void bands_init(struct bands *bands, const struct mli_plan *plan, size_t bytes);

/** The next one; false at the end. */
bool bands_next(struct bands *bands, struct band *band);

#endif /* MLI_DMA_BANDS_H */
