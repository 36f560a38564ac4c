/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer plan: all an engine needs to know of a move. One copy box (a nest of strided loops
 * around a run of contiguous bytes) and up to two zero-fill slabs per dimension, all disjoint, in
 * bytes and pointers. Whoever executes a plan knows nothing of tensors; whoever builds one touches
 * no data. Once built it never changes, and it may be copied as bytes.
 *
 * Loops are ordered from the largest destination step to the smallest. Counts are at least 2,
 * every product of count and step fits a size_t: geometry.c has proven it.
 */
#ifndef MLI_PLAN_H
#define MLI_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"

struct geometry;

struct copy_loop {
    size_t count;
    size_t src_step, dst_step; /* in bytes */
};

struct copy_box {
    const uint8_t *src;
    uint8_t *dst;
    size_t run; /* contiguous bytes on both sides; 0: nothing to copy */
    size_t loops;
    struct copy_loop loop[MLI_MAX_RANK];
};

struct fill_loop {
    size_t count;
    size_t step; /* in bytes */
};

struct fill_slab {
    uint8_t *dst;
    size_t run; /* contiguous bytes */
    size_t loops;
    struct fill_loop loop[MLI_MAX_RANK];
};

enum { PLAN_SLABS_MAX = 2 * MLI_MAX_RANK };

struct plan {
    size_t bytes; /* written in all */
    size_t slabs;
    struct copy_box box;
    struct fill_slab slab[PLAN_SLABS_MAX]; /* the first `slabs` are used; keep this last */
};

/** Plans the move that `g` describes from the tensor data at `src` to that at `dst`. */
void plan_build(struct plan *plan, const struct geometry *g, const uint8_t *src, uint8_t *dst);

/** Bytes of the plan that are in use: what a copy of it needs to copy. */
static inline size_t plan_size(const struct plan *plan)
{
    return offsetof(struct plan, slab) + plan->slabs * sizeof(plan->slab[0]);
}

#endif /* MLI_PLAN_H */
