/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer plan (struct mli_plan, mli_plan.h): all an engine needs to know of a move. One copy
 * box and up to two zero-fill slabs per dimension, all disjoint, in bytes and pointers. Whoever
 * executes a plan knows nothing of tensors; whoever builds one touches no data. Once built it never
 * changes, and it may be copied as bytes.
 */
#ifndef MLI_SRC_PLAN_H
#define MLI_SRC_PLAN_H

#include "libmli/src/bytes.h"
#include "mli_plan.h"

struct geometry;

/** Plans the move that `g` describes from the tensor data at `src` to that at `dst`. */
void plan_build(struct mli_plan *plan, const struct geometry *g, const uint8_t *src, uint8_t *dst);

/** The copy box alone: all there is to do where the destination is zero already. */
void plan_build_over_zeros(struct mli_plan *plan, const struct geometry *g, const uint8_t *src,
                           uint8_t *dst);

/** Makes a plan empty: no copy, no slabs. */
void plan_clear(struct mli_plan *plan);

/**
 * Adds a box to a plan: as its copy, which the plan must not have yet, or as a slab if the box has
 * no source. Drops the loops of *box that have a count of 1.
 */
void plan_add_box(struct mli_plan *plan, struct mli_copy_box *box);

/** Copies what is in use; either may be a plan that is kept as bytes. */
static inline void plan_copy_bytes(void *to, const void *from)
{
    const size_t head = offsetof(struct mli_plan, slab);
    size_t slabs;

    copy_bytes(to, from, head);
    copy_bytes(&slabs, (const uint8_t *)from + offsetof(struct mli_plan, slabs), sizeof(slabs));
    if (slabs > 0)
        copy_bytes((uint8_t *)to + head, (const uint8_t *)from + head,
                   slabs * sizeof(struct mli_fill_slab));
}

static inline void plan_copy(struct mli_plan *to, const struct mli_plan *from)
{
    plan_copy_bytes(to, from);
}

/** A slab as a box without a source. */
static inline struct mli_copy_box slab_box(const struct mli_fill_slab *slab)
{
    struct mli_copy_box box = {.dst = slab->dst, .run = slab->run, .loops = slab->loops};

    for (size_t i = 0; i < slab->loops; i++)
        box.loop[i] = (struct mli_copy_loop){slab->loop[i].count, 0, slab->loop[i].step};
    return box;
}

/** Descriptor `index` of a plan: its box, then its slabs. A run of 0: nothing to do. */
static inline struct mli_copy_box plan_box(const struct mli_plan *plan, uint32_t index)
{
    return index == 0 ? plan->box : slab_box(&plan->slab[index - 1]);
}

/** Runs in a box; of an empty one too. */
static inline uint64_t box_rows(const struct mli_copy_box *box)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < box->loops; i++)
        rows *= box->loop[i].count;
    return rows;
}

/** Returns the number of bytes that a box writes. */
static inline size_t box_bytes(const struct mli_copy_box *box)
{
    return box->run * (size_t)box_rows(box);
}

/** Runs in a slab. */
static inline uint64_t slab_rows(const struct mli_fill_slab *slab)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < slab->loops; i++)
        rows *= slab->loop[i].count;
    return rows;
}

/** Where a row of the box begins in the destination. */
static inline uint8_t *box_row(const struct mli_copy_box *box, uint64_t row)
{
    uint8_t *at = box->dst;

    for (size_t i = box->loops; i-- > 0;) {
        at += (size_t)(row % box->loop[i].count) * box->loop[i].dst_step;
        row /= box->loop[i].count;
    }
    return at;
}

#endif /* MLI_SRC_PLAN_H */
