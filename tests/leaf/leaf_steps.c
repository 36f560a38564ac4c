/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/leaf_steps.h"

/* The largest distance by which a pointer can be moved in any memory without an overflow. */
enum { IDLE_MAX = 1 << 30 };

static size_t power_from(size_t least)
{
    size_t power = 1;

    while (power < least)
        power *= 2;
    return power;
}

static size_t choose(enum step_kind kind, size_t packed, size_t size, struct rng *rng)
{
    switch (kind) {
    case STEP_NEAR:
        return packed + size * rng_between(rng, 1, 4);
    case STEP_ODD:
        return (packed + 1 + rng_below(rng, 70)) | 1;
    case STEP_POWER:
        return power_from(packed);
    case STEP_FAR:
        return (packed / 4096 + 1) * 4096 * rng_between(rng, 1, 2);
    case STEP_INTERLEAVED:
        return rng_between(rng, 1, (uint32_t)packed);
    default:
        return packed;
    }
}

struct things {
    size_t count, bytes, size; /* number of pieces; bytes of each piece; bytes of an element */
};

static void lay_out(struct layout *l, struct things of, enum step_kind inner, enum step_kind outer,
                    struct rng *rng)
{
    l->step = choose(inner, of.bytes + l->slack, of.size, rng);
    if (outer == STEP_SWAPPED) {
        l->outer_step = l->step;
        l->step *= (l->begin + of.count + l->inner - 1) / l->inner;
    } else {
        l->outer_step = choose(outer, l->inner * l->step, of.size, rng);
    }
}

void steps_choose(struct shape *shape, const struct steps *steps, struct rng *rng)
{
    const size_t dst_piece = shape_dst_piece(shape);
    const size_t src_count = shape_src_count(shape), src_piece = shape_src_piece(shape);

    lay_out(&shape->dst, (struct things){shape->rows, dst_piece, shape->size}, steps->dst,
            steps->dst_outer, rng);
    lay_out(&shape->src, (struct things){src_count, src_piece, shape->size}, steps->src,
            steps->src_outer, rng);
    /*
     * In a nest, the step of a loop with a count of 1 has no meaning; in other kinds, it is the
     * step that the library would pass.
     */
    shape->idle = rng_chance(rng, 50) ? 0 : dst_piece;
    if (shape_has_nest(shape) && rng_chance(rng, 50))
        shape->idle = rng_below(rng, IDLE_MAX);
}
