/* SPDX-License-Identifier: BSD-3-Clause */
#include "steps.h"

static size_t power_from(size_t least)
{
    size_t power = 1;

    while (power < least)
        power *= 2;
    return power;
}

static size_t choose(enum step_kind kind, size_t packed, struct rng *rng)
{
    switch (kind) {
    case STEP_ODD:
        return (packed + 1 + rng_below(rng, 70)) | 1;
    case STEP_POWER:
        return power_from(packed);
    case STEP_FAR:
        return (packed / 4096 + 1) * 4096 * rng_between(rng, 1, 2);
    case STEP_WOVEN:
        return rng_between(rng, 1, (uint32_t)packed);
    default:
        return packed;
    }
}

void steps_choose(struct shape *shape, enum step_kind dst, enum step_kind src, struct rng *rng)
{
    /* Nothing uses a step between things of which there is one; the library then gives 0. */
    const bool one_source = (shape->kind == LEAF_TRANSPOSE ? shape->cols : shape->rows) == 1;
    size_t src_packed = shape->size;

    if (shape->kind == LEAF_TRANSPOSE)
        src_packed = shape->rows * shape->size;
    else if (shape->kind == LEAF_PICK)
        src_packed = (shape->cols - 1) * shape->pick_step + shape->size;
    shape->dst_step = choose(dst, shape->cols * shape->size, rng);
    shape->src_step = shape->kind == LEAF_FILL ? 0 : choose(src, src_packed, rng);
    if (shape->rows == 1 && rng_chance(rng, 50))
        shape->dst_step = 0;
    if (one_source && rng_chance(rng, 50))
        shape->src_step = 0;
}
