/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/leaf_cases.h"
#include "tests/leaf/leaf_steps.h"

enum {
    MOVED_MAX = 128 * 1024,
    STREAM_MAX = 5000,
    STREAM_LARGE = 400 * 1024,
    BORDER_MAX = 70,
    BORDER_LARGE = 700,
    OUTER_MAX = 12,
    SLACK_MAX = 70
};

/* Returns a number from 1 to max; small and large numbers are equally likely. */
static size_t length(struct rng *rng, uint32_t max)
{
    const uint32_t cap = rng_between(rng, 1, max);

    return rng_between(rng, 1, rng_between(rng, 1, cap));
}

static size_t gather_step(struct rng *rng, size_t size)
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

static size_t border(struct rng *rng)
{
    if (rng_chance(rng, 20))
        return 0;
    return length(rng, rng_chance(rng, 10) ? BORDER_LARGE : BORDER_MAX);
}

/* Returns a length; half of the lengths are shorter than two registers. */
static size_t run_length(struct rng *rng)
{
    return length(rng, rng_chance(rng, 50) ? 130 : rng_chance(rng, 30) ? 20000 : 1500);
}

static void draw_sides(struct shape *s, struct rng *rng)
{
    s->size = (size_t)1 << rng_below(rng, 4);
    if (s->kind == LEAF_GATHER) {
        s->rows = length(rng, 100);
        s->cols = length(rng, rng_chance(rng, 50) ? 70 : 1500);
        s->gather_step = gather_step(rng, s->size);
    } else {
        const uint32_t most = s->kind == LEAF_TRANSPOSE ? 1500 : GROUND_TABLE;

        s->rows = length(rng, most);
        s->cols = length(rng, most);
        if (s->kind == LEAF_TRANSPOSE_STREAM) {
            const size_t many = length(rng, 8000);

            s->rows = rng_between(rng, 1, 10);
            s->cols = many;
            if (rng_chance(rng, 50)) {
                s->cols = s->rows;
                s->rows = many;
            }
        }
    }
}

/*
 * Chooses random loops for the rows. A table may begin and end in the middle of an inner loop.
 */
static void draw_layout(struct layout *l, size_t count, struct rng *rng)
{
    l->inner = length(rng, (uint32_t)count);
    l->begin = rng_below(rng, (uint32_t)l->inner);
    if (rng_chance(rng, 50))
        return;
    l->inner = count;
    l->begin = 0;
    if (rng_chance(rng, 50)) {
        l->seed = rng_next(rng) | 1;
        l->slack = rng_below(rng, SLACK_MAX);
    }
}

static struct shape random_shape(struct rng *rng)
{
    struct shape s = {.kind = (enum leaf_kind)rng_below(rng, LEAF_KINDS), .rows = 1, .cols = 1};
    size_t outer = 1;

    if (s.kind == LEAF_GATHER || shape_is_transpose(&s)) {
        draw_sides(&s, rng);
    } else if (s.kind == LEAF_STREAM) {
        s.size = length(rng, rng_chance(rng, 3) ? STREAM_LARGE : STREAM_MAX);
    } else {
        s.size = run_length(rng);
        s.rows = length(rng, 100);
    }
    if (s.kind == LEAF_BORDERED) {
        s.before = border(rng);
        s.after = border(rng);
    }
    if (shape_has_nest(&s) && rng_chance(rng, 60))
        outer = length(rng, OUTER_MAX);
    while (outer * s.rows * shape_dst_piece(&s) > MOVED_MAX && s.kind != LEAF_STREAM) {
        if (s.rows > s.cols)
            s.rows /= 2;
        else if (s.cols > 1)
            s.cols /= 2;
        else
            s.size /= 2; /* only for runs: a single element never exceeds MOVED_MAX */
    }
    s.dst.inner = s.rows;
    s.rows *= outer;
    s.src.inner = shape_is_transpose(&s) ? s.cols : s.dst.inner;
    if (s.kind == LEAF_TRANSPOSE_AT) {
        draw_layout(&s.dst, s.rows, rng);
        draw_layout(&s.src, s.cols, rng);
    }
    return s;
}

/* Chooses steps so that source and destination have room. */
static void choose_steps(struct shape *s, struct rng *rng)
{
    /*
     * Rows must not overlap in the destination; packed rows are frequent, because kernels treat
     * them specially.
     */
    struct steps steps = {
        .dst = rng_chance(rng, 40) ? STEP_PACKED : (enum step_kind)rng_below(rng, STEP_SWAPPED),
        .dst_outer =
            rng_chance(rng, 40) ? STEP_PACKED : (enum step_kind)rng_below(rng, STEP_INTERLEAVED),
        .src = (enum step_kind)rng_below(rng, STEP_KINDS),
        .src_outer = (enum step_kind)rng_below(rng, STEP_KINDS),
    };

    for (;;) {
        steps_choose(s, &steps, rng);
        if (shape_dst_extent(s) > GROUND_DST_BYTES / 2)
            steps.dst = steps.dst_outer = STEP_PACKED;
        else if (shape_src_extent(s) <= GROUND_SRC_BYTES / 2)
            return;
        else if (steps.src != STEP_PACKED || steps.src_outer != STEP_PACKED)
            steps.src = steps.src_outer = STEP_PACKED;
        else if (s->rows > s->dst.inner)
            s->rows = s->dst.inner;
        else if (s->rows > 1)
            s->dst.inner = s->src.inner = s->rows /= 2;
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
    site.dst_piece = (enum piece)rng_below(&rng, PIECES);
    site.src_piece = (enum piece)rng_below(&rng, PIECES);
    return site;
}
