/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"
#include "steps.h"

enum { MOVED_MAX = 128 * 1024 };

/* 1 .. max, small ones as often as large ones. */
static size_t length(struct rng *rng, uint32_t max)
{
    const uint32_t cap = rng_between(rng, 1, max);

    return rng_between(rng, 1, rng_between(rng, 1, cap));
}

static size_t pick_step(struct rng *rng, size_t size)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return size * rng_between(rng, 2, 20);
    case 1:
        return size + rng_between(rng, 1, (uint32_t)size * 64);
    case 2:
        return size * 2 << rng_below(rng, 12);
    default:
        return size * rng_between(rng, 2, 600) + rng_below(rng, 2);
    }
}

static struct shape random_shape(struct rng *rng)
{
    struct shape s = {.kind = (enum leaf_kind)rng_below(rng, LEAF_KINDS), .cols = 1};

    if (s.kind == LEAF_ROWS || s.kind == LEAF_FILL) {
        s.size = length(rng, rng_chance(rng, 30) ? 20000 : 1500);
        s.rows = length(rng, 100);
    } else {
        s.size = (size_t)1 << rng_below(rng, 4);
        s.rows = length(rng, s.kind == LEAF_PICK ? 20 : 1500);
        s.cols = length(rng, 1500);
        if (s.kind == LEAF_PICK)
            s.pick_step = pick_step(rng, s.size);
    }
    while (s.rows * s.cols * s.size > MOVED_MAX) {
        if (s.rows > s.cols)
            s.rows /= 2;
        else if (s.cols > 1)
            s.cols /= 2;
        else
            s.size /= 2; /* of a run: an element has room */
    }
    return s;
}

/* With steps at which both sides have room. */
static void choose_steps(struct shape *s, struct rng *rng)
{
    /* Rows that overlap in the destination have no meaning. */
    enum step_kind dst = (enum step_kind)rng_below(rng, STEP_WOVEN);
    enum step_kind src = (enum step_kind)rng_below(rng, STEP_KINDS);

    for (;;) {
        steps_choose(s, dst, src, rng);
        if (shape_dst_extent(s) > GROUND_DST_BYTES / 2)
            dst = STEP_PACKED;
        else if (shape_src_extent(s) <= GROUND_SRC_BYTES / 2)
            return;
        else if (src != STEP_PACKED)
            src = STEP_PACKED;
        else if (s->rows > 1)
            s->rows /= 2;
        else
            s->cols /= 2;
    }
}

struct site cases_random(uint64_t seed, uint64_t index)
{
    struct rng rng = rng_for_case(seed, index);
    struct site site = {.shape = random_shape(&rng)};

    choose_steps(&site.shape, &rng);
    site.dst_place = (enum place)rng_below(&rng, PLACES);
    site.src_place = (enum place)rng_below(&rng, PLACES);
    site.dst_slide = rng_below(&rng, 64);
    site.src_slide = rng_below(&rng, 64);
    site.by_col = rng_chance(&rng, 50);
    return site;
}
