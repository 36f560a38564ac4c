/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a plan as addresses: the bytes that a copy box reads or writes, or the zeros that a
 * slab writes.
 */
#pragma once

#include <stdbool.h>

#include "mli_plan.h"

struct side_loop {
    uint64_t count, step;
};

/* The loops around a run, from the outermost to the innermost. */
struct side {
    uint64_t address, run;
    size_t loops;
    struct side_loop loop[MLI_MAX_RANK];
};

static inline struct side side_of_box(const struct mli_copy_box *box, bool read)
{
    struct side side = {
        .address = (uintptr_t)(read ? box->src : box->dst), .run = box->run, .loops = box->loops};

    for (size_t i = 0; i < box->loops; i++)
        side.loop[i] = (struct side_loop){box->loop[i].count,
                                          read ? box->loop[i].src_step : box->loop[i].dst_step};
    return side;
}

static inline struct side side_of_slab(const struct mli_fill_slab *slab)
{
    struct side side = {.address = (uintptr_t)slab->dst, .run = slab->run, .loops = slab->loops};

    for (size_t i = 0; i < slab->loops; i++)
        side.loop[i] = (struct side_loop){slab->loop[i].count, slab->loop[i].step};
    return side;
}

static inline uint64_t side_rows(const struct side *side)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < side->loops; i++)
        rows *= side->loop[i].count;
    return rows;
}
