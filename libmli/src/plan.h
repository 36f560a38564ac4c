/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a move through libmli/src:
 *
 *   mov.c, permute.c,     public calls: mli_mov_*, mli_krn_permute_*
 *     |  handle.c
 *     |  src, cfg, dst
 *     v
 *   transfer.h            checks all arguments (tensor, geometry, overlap, quant, profile) and
 *     |  plan.h            plans the bytes; nothing after this step can be refused
 *     v
 *   dma/run.h             an asynchronous transfer: split over the channels of its handle
 *     |  dma/pool.h        (dma/split.c), a work item for each channel (dma/channel.h)
 *     v
 *   mli_engine.h          the engine of the channel: inline and threads (dma/processor.c), fault,
 *     |                    or the driver of a device
 *     v
 *   exec/exec.h           moves a plan on the calling thread: chooses kernels (exec/walk.c), may
 *     |                    stream (exec/stage.c). A synchronous move comes here directly
 *     v
 *   exec/leaf.h           leaf kernels in C, AVX2, AVX-512, NEON
 *
 * and back: engine -> done of the work -> run.c -> completion callback, mli_mov_wait().
 *
 * To add a leaf kernel, start at exec/leaf.h; an engine, at mli_engine.h; a check of arguments, at
 * transfer.c.
 *
 * A transfer plan (struct mli_plan, mli_plan.h) is all that an engine needs to know of a move: a
 * copy box and up to two zero-fill slabs per dimension, all disjoint, in bytes and pointers. Code
 * that executes plans knows no tensors; code that builds plans touches no tensor data. A plan does
 * not change once it is built, and may be copied as bytes.
 */
#pragma once

#include "libmli/src/builtins.h"
#include "mli_plan.h"

struct geometry;

/** Plans the move of `g` from the tensor data at `src` to the tensor data at `dst`. */
void plan_build(struct mli_plan *plan, const struct geometry *g, const uint8_t *src, uint8_t *dst);

/** Plans only the copy box, for a destination that is zero already. */
void plan_build_over_zeros(struct mli_plan *plan, const struct geometry *g, const uint8_t *src,
                           uint8_t *dst);

/** Makes a plan empty: no copy, no slabs. */
void plan_clear(struct mli_plan *plan);

/**
 * Adds a box to a plan. A box with a source becomes the plan's copy, and a plan has at most one; a
 * box without a source becomes a slab of zeros. Drops the loops of *box that have a count of 1.
 */
void plan_add_box(struct mli_plan *plan, struct mli_copy_box *box);

/** Copies the used bytes of a plan. Both pointers may be misaligned, like the plan in a handle. */
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

/** Returns a slab as a box without a source. */
static inline struct mli_copy_box slab_box(const struct mli_fill_slab *slab)
{
    struct mli_copy_box box = {.dst = slab->dst, .run = slab->run, .loops = slab->loops};

    for (size_t i = 0; i < slab->loops; i++)
        box.loop[i] = (struct mli_copy_loop){slab->loop[i].count, 0, slab->loop[i].step};
    return box;
}

/**
 * Returns descriptor `index` of a plan as a box: 0 is the copy box, n is slab n - 1. A descriptor
 * with a run of 0 writes nothing.
 */
static inline struct mli_copy_box plan_box(const struct mli_plan *plan, uint32_t index)
{
    return index == 0 ? plan->box : slab_box(&plan->slab[index - 1]);
}

/** Returns the number of runs in a box, even if each run has 0 bytes. */
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

/** Returns the number of runs in a slab. */
static inline uint64_t slab_rows(const struct mli_fill_slab *slab)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < slab->loops; i++)
        rows *= slab->loop[i].count;
    return rows;
}

/** Returns the address of a row of the box in the destination. */
static inline uint8_t *box_row(const struct mli_copy_box *box, uint64_t row)
{
    uint8_t *at = box->dst;

    for (size_t i = box->loops; i-- > 0;) {
        at += (size_t)(row % box->loop[i].count) * box->loop[i].dst_step;
        row /= box->loop[i].count;
    }
    return at;
}
