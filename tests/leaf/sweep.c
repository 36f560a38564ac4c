/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"
#include "steps.h"

enum { RUN_MAX = 300, SIDE_MAX = 70, PICK_COLS_MAX = 200, PICK_STEP_MAX = 40 /* elements */ };

/* What every shape is tried with. */
static const struct variant {
    enum place dst, src;
    enum step_kind dst_step, src_step;
} variants[] = {
    {PLACE_RIGHT, PLACE_RIGHT, STEP_PACKED, STEP_PACKED},
    {PLACE_LEFT, PLACE_LEFT, STEP_ODD, STEP_ODD},
    {PLACE_SLID, PLACE_SLID, STEP_POWER, STEP_POWER},
    {PLACE_PAGES_RIGHT, PLACE_PAGES_RIGHT, STEP_PACKED, STEP_PACKED},
    {PLACE_PAGES_LEFT, PLACE_PAGES_LEFT, STEP_PACKED, STEP_PACKED},
    {PLACE_SLID, PLACE_RIGHT, STEP_PACKED, STEP_FAR},
};

enum { VARIANTS = sizeof(variants) / sizeof(variants[0]) };

struct sweep {
    uint64_t seed, index;
    cases_visitor *visit;
    void *context;
};

static bool visit(struct sweep *sweep, const struct variant *variant, struct shape shape)
{
    struct rng rng = rng_for_case(sweep->seed, sweep->index);
    struct site site = {.shape = shape,
                        .dst_place = variant->dst,
                        .src_place = variant->src,
                        .dst_slide = rng_below(&rng, 64),
                        .src_slide = rng_below(&rng, 64),
                        .by_col = rng_chance(&rng, 50)};

    steps_choose(&site.shape, variant->dst_step, variant->src_step, &rng);
    return sweep->visit(sweep->context, sweep->index++, &site);
}

static bool visit_variants(struct sweep *sweep, const struct shape *shape)
{
    for (int i = 0; i < VARIANTS; i++)
        if (!visit(sweep, &variants[i], *shape))
            return false;
    return true;
}

static bool sweep_rows(struct sweep *sweep, enum leaf_kind kind)
{
    static const size_t counts[] = {1, 2, 3, 8};

    for (size_t run = 1; run <= RUN_MAX; run++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
            if (!visit_variants(sweep, &(struct shape){kind, run, counts[i], 1, 0, 0, 0}))
                return false;
    return true;
}

static bool sweep_transposes(struct sweep *sweep, size_t size)
{
    for (size_t rows = 1; rows <= SIDE_MAX; rows++)
        for (size_t cols = 1; cols <= SIDE_MAX; cols++)
            if (!visit_variants(sweep, &(struct shape){LEAF_TRANSPOSE, size, rows, cols, 0, 0, 0}))
                return false;
    return true;
}

/* A source whose strides make its elements overlap gives steps below the size, too. */
static bool sweep_picks(struct sweep *sweep, size_t size)
{
    for (size_t step = 1; step <= PICK_STEP_MAX * size; step++) {
        for (size_t cols = 1; cols <= PICK_COLS_MAX; cols++) {
            /* Short rows are taken several at a time, maybe. */
            const size_t rows = 1 + (step + cols) % 3 + (step * cols <= 64 ? 8 : 0);

            if (!visit_variants(sweep, &(struct shape){LEAF_PICK, size, rows, cols, 0, 0, step}))
                return false;
        }
    }
    return true;
}

uint64_t cases_sweep(uint64_t seed, cases_visitor *visitor, void *context)
{
    struct sweep sweep = {seed, 0, visitor, context};
    bool more = sweep_rows(&sweep, LEAF_ROWS) && sweep_rows(&sweep, LEAF_FILL);

    for (size_t size = 1; more && size <= 8; size *= 2)
        more = sweep_transposes(&sweep, size) && sweep_picks(&sweep, size);
    return sweep.index;
}
