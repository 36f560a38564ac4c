/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps between rows that are likely to reveal errors of a leaf. */
#ifndef TEST_LEAF_STEPS_H
#define TEST_LEAF_STEPS_H

#include "tests/leaf/shape.h"
#include "tests/support/rng.h"

enum step_kind {
    STEP_PACKED,
    STEP_NEAR,        /* step with a gap of a few elements */
    STEP_ODD,         /* step with a gap */
    STEP_POWER,       /* step that is a power of two */
    STEP_FAR,         /* step that is a multiple of 4096 */
    STEP_SWAPPED,     /* the outer step is shorter than the inner step */
    STEP_INTERLEAVED, /* step of the source that is so small that its rows interleave or overlap */
    STEP_KINDS
};

/* The kinds of steps for the inner and the outer loops. */
struct steps {
    enum step_kind dst, dst_outer, src, src_outer;
};

/* Sets the steps of the shape's layouts. The inner counts of the layouts must be set already. */
void steps_choose(struct shape *shape, const struct steps *steps, struct rng *rng);

#endif /* TEST_LEAF_STEPS_H */
