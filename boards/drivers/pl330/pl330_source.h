/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of a plan, cut in front of the row at which a fault is injected. */
#ifndef MLI_PL330_SOURCE_H
#define MLI_PL330_SOURCE_H

#include "boards/drivers/pl330/pl330_engine.h"

/** The fault that pl330_inject() requests, after a number of rows. */
struct pl330_request {
    enum pl330_injection kind;
    uint64_t rows;
};

/** Makes the pieces of a plan. A copy of the structure makes the same pieces again. */
struct pl330_source {
    struct mli_legaliser legaliser;
    struct mli_descriptor rest; /* the second part of a piece that was cut */
    bool cut;                   /* there is a rest */
    uint64_t rows;              /* rows of the pieces made */
};

/** Begins a plan. */
void pl330_source_init(struct pl330_source *source, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps);

/** Sets *piece to the next piece. Returns false at the end. */
bool pl330_source_next(struct pl330_source *source, const struct pl330_request *injection,
                       struct mli_descriptor *piece);

#endif /* MLI_PL330_SOURCE_H */
