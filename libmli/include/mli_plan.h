/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move as plain data: the result of checking all arguments, and all that an engine needs to know
 * (extension).
 *
 *   plan        the work of one channel: descriptor 0 is its copy box, descriptor n its fill slab
 *               n - 1. The descriptors are disjoint; their order does not matter.
 *   copy box    a nest of strided loops around a run of contiguous bytes
 *   fill slab   a copy box with zeros as the source
 *   row         one run; rows are numbered in the order of the loops, the innermost fastest
 *
 * Addresses may have any misalignment; no product of count and step exceeds a size_t.
 */
#ifndef MLI_PLAN_H
#define MLI_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mli_copy_loop {
    size_t count;              /**< number of iterations, at least 2 */
    size_t src_step, dst_step; /**< steps in bytes */
};

/**
 * dst[sum of i[k] * dst_step[k] + 0 .. run) = src[sum of i[k] * src_step[k] + 0 .. run) for all
 * i[k] < count[k]. Loops are ordered from the largest destination step to the smallest.
 */
struct mli_copy_box {
    const uint8_t *src;
    uint8_t *dst;
    size_t run;   /**< contiguous bytes on both sides; 0: nothing to copy */
    size_t loops; /**< number of loops in loop[], outermost first */
    struct mli_copy_loop loop[MLI_MAX_RANK];
};

struct mli_fill_loop {
    size_t count; /**< number of iterations, at least 2 */
    size_t step;  /**< step in bytes */
};

/** dst[sum of i[k] * step[k] + 0 .. run) = 0 for all i[k] < count[k] */
struct mli_fill_slab {
    uint8_t *dst;
    size_t run; /**< contiguous bytes, at least 1 */
    size_t loops;
    struct mli_fill_loop loop[MLI_MAX_RANK];
};

/** Two slabs for each padded dimension, at most. */
#define MLI_PLAN_SLABS_MAX (2 * MLI_MAX_RANK)

struct mli_plan {
    size_t bytes; /**< bytes that the plan writes */
    size_t slabs; /**< number of slabs in slab[] */
    struct mli_copy_box box;
    struct mli_fill_slab slab[MLI_PLAN_SLABS_MAX];
};

#ifdef __cplusplus
}
#endif

#endif /* MLI_PLAN_H */
