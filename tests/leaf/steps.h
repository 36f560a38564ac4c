/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between rows that a leaf is likely to be wrong with. */
#ifndef TEST_LEAF_STEPS_H
#define TEST_LEAF_STEPS_H

#include "rng.h"
#include "shape.h"

enum step_kind {
    STEP_PACKED,
    STEP_ODD,   /* with a gap */
    STEP_POWER, /* of two */
    STEP_FAR,   /* a multiple of 4096 */
    STEP_WOVEN, /* of the source: so small that rows lie between each other, or overlap */
    STEP_KINDS
};

/* Sets the shape's dst_step and src_step. */
void steps_choose(struct shape *shape, enum step_kind dst, enum step_kind src, struct rng *rng);

#endif /* TEST_LEAF_STEPS_H */
