/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between rows that a leaf is likely to be wrong with. */
#ifndef TEST_LEAF_STEPS_H
#define TEST_LEAF_STEPS_H

#include "tests/leaf/shape.h"
#include "tests/support/rng.h"

enum step_kind {
    STEP_PACKED,
    STEP_NEAR,    /* with a gap of a few elements */
    STEP_ODD,     /* with a gap */
    STEP_POWER,   /* of two */
    STEP_FAR,     /* a multiple of 4096 */
    STEP_SWAPPED, /* of an outer loop: the shorter one of the two, and as the inner one is asked */
    STEP_INTERLEAVED, /* of the source: so small that rows lie between each other, or overlap */
    STEP_KINDS
};

/* Of the inner loop and of the outer one. */
struct steps {
    enum step_kind dst, dst_outer, src, src_outer;
};

/* Sets the steps of the shape's layouts, whose inner counts are set. */
void steps_choose(struct shape *shape, const struct steps *steps, struct rng *rng);

#endif /* TEST_LEAF_STEPS_H */
