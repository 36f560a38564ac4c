/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/leaf/leaf_cases.h"
#include "tests/leaf/leaf_steps.h"

enum {
    RUN_MAX = 300,
    BORDERED_RUN_MAX = 140,
    SIDE_MAX = 70,
    NARROW_MAX = 8,
    GATHER_COLS_MAX = 200,
    GATHER_STEP_MAX = 40, /* largest step of a gather, in elements */
    STREAM_MAX = 2500,
    LONG_SLIDES = 80, /* number of distances between a long row and its source */
    VARIED = 5        /* number of variants of each shape if there are very many shapes */
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Places and steps with which each shape is tested. The first NEST_VARIANTS are for all shapes,
 * the others only for shapes with two loops. */
static const struct variant {
    enum place dst, src;
    struct steps steps;
    enum piece dst_piece, src_piece;
} variants[] = {
    {PLACE_RIGHT, PLACE_RIGHT, {STEP_PACKED, STEP_PACKED, STEP_PACKED, STEP_PACKED}},
    {PLACE_LEFT, PLACE_LEFT, {STEP_ODD, STEP_ODD, STEP_ODD, STEP_ODD}},
    {PLACE_SLID, PLACE_SLID, {STEP_POWER, STEP_PACKED, STEP_POWER, STEP_ODD}},
    {PLACE_PAGES_RIGHT, PLACE_PAGES_RIGHT, {STEP_PACKED}, PIECE_ROW, PIECE_ROW},
    {PLACE_PAGES_LEFT, PLACE_PAGES_LEFT, {STEP_PACKED}, PIECE_ROW, PIECE_COL},
    {PLACE_SLID, PLACE_RIGHT, {STEP_PACKED, STEP_PACKED, STEP_FAR, STEP_ODD}},
    {PLACE_SLID, PLACE_PAGES_RIGHT, {STEP_PACKED}, PIECE_ROW, PIECE_ROW},
    {PLACE_LEFT, PLACE_PAGES_LEFT, {STEP_PACKED}, PIECE_ROW, PIECE_ROW},

    {PLACE_PAGES_RIGHT, PLACE_PAGES_RIGHT, {STEP_PACKED}, PIECE_LOOP, PIECE_ROW},
    {PLACE_PAGES_LEFT, PLACE_PAGES_LEFT, {STEP_PACKED}, PIECE_LOOP, PIECE_LOOP},
    {PLACE_SLID, PLACE_SLID, {STEP_PACKED, STEP_ODD, STEP_PACKED, STEP_ODD}},
    {PLACE_SLID, PLACE_SLID, {STEP_PACKED, STEP_SWAPPED, STEP_ODD, STEP_SWAPPED}},
    {PLACE_SLID, PLACE_SLID, {STEP_ODD, STEP_SWAPPED, STEP_INTERLEAVED, STEP_ODD}},
    {PLACE_RIGHT, PLACE_RIGHT, {STEP_PACKED, STEP_PACKED, STEP_NEAR, STEP_NEAR}},
    {PLACE_LEFT, PLACE_LEFT, {STEP_PACKED, STEP_PACKED, STEP_NEAR, STEP_ODD}},
};

enum { NEST_VARIANTS = 8 };

/* Additional variants of narrow transposes, which may read bytes between elements. */
static const struct variant narrow_variants[] = {
    {PLACE_LEFT, PLACE_LEFT, {STEP_PACKED, STEP_PACKED, STEP_NEAR, STEP_NEAR}},
    {PLACE_RIGHT, PLACE_RIGHT, {STEP_NEAR, STEP_NEAR, STEP_NEAR, STEP_NEAR}},
    {PLACE_PAGES_LEFT, PLACE_RIGHT, {STEP_PACKED, STEP_PACKED, STEP_NEAR, STEP_NEAR}},
    {PLACE_PAGES_RIGHT, PLACE_LEFT, {STEP_PACKED, STEP_PACKED, STEP_NEAR, STEP_NEAR}},
};

/* Iterations of the outer and of the inner loop: together at most the number of pages. */
static const struct counts {
    size_t outer, inner;
} nests[] = {{1, 1}, {1, 2}, {1, 3}, {2, 1}, {1, 8}, {2, 3}, {3, 5}, {1, 40}, {2, 35}};

/* Nests with so many rows that rows of one byte fill more than a register. */
static const struct counts long_nests[] = {{1, 80}, {2, 40}, {70, 1}, {3, 25}, {25, 3}};

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
                        .dst_piece = variant->dst_piece,
                        .src_piece = variant->src_piece};

    steps_choose(&site.shape, &variant->steps, &rng);
    return sweep->visit(sweep->context, sweep->index++, &site);
}

static struct shape with_counts(struct shape shape, const struct counts *n)
{
    shape.rows = n->outer * n->inner;
    shape.dst.inner = shape.src.inner = n->inner;
    return shape;
}

/* Visits `count` variants of a shape, or all if it has fewer. The next shapes continue with the
 * variants that were left out. */
static bool visit_variants(struct sweep *sweep, const struct shape *shape, size_t count)
{
    const size_t all = shape->rows > shape->dst.inner ? COUNT_OF(variants) : NEST_VARIANTS;
    const size_t first = count < all ? sweep->index % all : 0;

    for (size_t i = 0; i < count && i < all; i++)
        if (!visit(sweep, &variants[(first + i) % all], *shape))
            return false;
    return true;
}

static bool sweep_rows(struct sweep *sweep)
{
    for (size_t run = 1; run <= RUN_MAX; run++) {
        for (size_t i = 0; i < COUNT_OF(nests); i++) {
            const struct shape s = {.kind = LEAF_ROWS, .size = run, .cols = 1};
            const struct shape nested = with_counts(s, &nests[i]);

            if (!visit_variants(sweep, &nested, COUNT_OF(variants)))
                return false;
        }
    }
    for (size_t run = 1; run <= SIDE_MAX; run++) {
        for (size_t i = 0; i < COUNT_OF(long_nests); i++) {
            const struct shape s = {.kind = LEAF_ROWS, .size = run, .cols = 1};
            const struct shape nested = with_counts(s, &long_nests[i]);

            if (!visit_variants(sweep, &nested, COUNT_OF(variants)))
                return false;
        }
    }
    return true;
}

/*
 * Visits long rows whose offset in a page is within 63 bytes of that of their source: exec/copy.h
 * copies these without memcpy.
 */
static bool sweep_long_rows(struct sweep *sweep)
{
    static const struct variant slid = {
        PLACE_SLID, PLACE_SLID, {STEP_PACKED, STEP_PACKED, STEP_FAR, STEP_FAR}};
    static const size_t runs[] = {1000, 1023, 1024, 1025, 1088, 2048, 4000, 4096, 4160, 9999};

    for (size_t i = 0; i < LONG_SLIDES * COUNT_OF(runs); i++) {
        struct shape s = {.size = runs[i % COUNT_OF(runs)], .cols = 1};

        s.kind = i / COUNT_OF(runs) % 2 ? LEAF_BORDERED : LEAF_ROWS;
        s.before = s.after = s.kind == LEAF_BORDERED ? 1 + i % 40 : 0;
        s = with_counts(s, &nests[i % 4]);
        if (!visit(sweep, &slid, s))
            return false;
    }
    return true;
}

static bool sweep_fills(struct sweep *sweep)
{
    static const size_t counts[] = {1, 2, 3, 8, 75};

    for (size_t run = 1; run <= RUN_MAX; run++) {
        for (size_t i = 0; i < COUNT_OF(counts); i++) {
            const struct shape s = {.kind = LEAF_FILL, .size = run, .cols = 1};
            const struct shape loop = with_counts(s, &(struct counts){1, counts[i]});

            if (!visit_variants(sweep, &loop, COUNT_OF(variants)))
                return false;
        }
    }
    return true;
}

static bool sweep_bordered(struct sweep *sweep)
{
    static const size_t borders[][2] = {
        {0, 0},  {0, 1},   {1, 0},   {1, 1},   {2, 2},   {3, 0},   {0, 5},   {7, 9},
        {15, 1}, {16, 16}, {0, 31},  {31, 33}, {33, 0},  {63, 1},  {1, 63},  {64, 64},
        {0, 65}, {66, 66}, {70, 69}, {127, 3}, {2, 129}, {200, 0}, {0, 260}, {300, 300}};

    for (size_t run = 1; run <= BORDERED_RUN_MAX; run++) {
        for (size_t i = 0; i < COUNT_OF(borders); i++) {
            const struct shape s = {.kind = LEAF_BORDERED,
                                    .size = run,
                                    .cols = 1,
                                    .before = borders[i][0],
                                    .after = borders[i][1]};
            const bool is_short = shape_dst_piece(&s) <= SIDE_MAX;
            const struct counts *n = is_short && i % 2
                                         ? &long_nests[(run + i / 2) % COUNT_OF(long_nests)]
                                         : &nests[(run + i) % COUNT_OF(nests)];
            const struct shape nested = with_counts(s, n);

            if (!visit_variants(sweep, &nested, is_short ? COUNT_OF(variants) : VARIED))
                return false;
        }
    }
    return true;
}

/* Visits transposes with tables. Tables are made from one loop or two loops, or are shuffled. */
static bool sweep_transposes(struct sweep *sweep, enum leaf_kind kind, size_t size)
{
    for (size_t rows = 1; rows <= SIDE_MAX; rows++) {
        for (size_t cols = 1; cols <= SIDE_MAX; cols++) {
            struct shape s = {.kind = kind, .size = size, .rows = rows, .cols = cols};

            s.dst.inner = rows;
            s.src.inner = cols;
            if (kind == LEAF_TRANSPOSE_AT && (rows + cols) % 3 == 1) {
                s.dst.seed = s.src.seed = sweep->index + 1;
                s.dst.slack = rows % 7;
                s.src.slack = cols % 7;
            } else if (kind == LEAF_TRANSPOSE_AT && (rows + cols) % 3 == 2) {
                s.dst.inner = 1 + rows / 3;
                s.src.inner = 1 + cols / 2;
                s.src.begin = s.src.inner / 2;
            }
            if (!visit_variants(sweep, &s, kind == LEAF_TRANSPOSE ? COUNT_OF(variants) : 2))
                return false;
        }
    }
    return true;
}

static bool sweep_narrow(struct sweep *sweep, size_t size)
{
    for (size_t few = 1; few <= NARROW_MAX; few++) {
        for (size_t i = 0; i < 2 * SIDE_MAX * COUNT_OF(narrow_variants); i++) {
            const size_t many = 1 + i / 2 / COUNT_OF(narrow_variants);
            struct shape s = {.kind = LEAF_TRANSPOSE, .size = size, .rows = few, .cols = many};

            if (i % 2) {
                s.rows = many;
                s.cols = few;
            }
            s.dst.inner = s.rows;
            s.src.inner = s.cols;
            if (!visit(sweep, &narrow_variants[i / 2 % COUNT_OF(narrow_variants)], s))
                return false;
        }
    }
    return true;
}

/* Visits a few of the sizes for which stores that bypass the caches are worthwhile. */
static bool sweep_streamed(struct sweep *sweep, size_t size)
{
    static const struct variant *const some[] = {&variants[0], &variants[1], &narrow_variants[0]};

    for (size_t few = 2; few <= NARROW_MAX + 2; few++) {
        for (size_t many = 480 / size; many < 480 / size + SIDE_MAX; many++) {
            const bool wide = sweep->index / COUNT_OF(some) % 2;
            struct shape s = {.kind = LEAF_TRANSPOSE_STREAM,
                              .size = size,
                              .rows = wide ? few : many,
                              .cols = wide ? many : few};

            s.dst.inner = s.rows;
            s.src.inner = s.cols;
            for (size_t i = 0; i < COUNT_OF(some); i++)
                if (!visit(sweep, some[i], s))
                    return false;
        }
    }
    return true;
}

/*
 * Visits gathers. Elements of a source may overlap, so steps smaller than the size are included.
 * Steps that are not a multiple of the size are rare, and get fewer columns.
 */
static bool sweep_gathers(struct sweep *sweep, size_t size)
{
    for (size_t step = 1; step <= GATHER_STEP_MAX * size; step++) {
        const bool is_even = step % size == 0;

        for (size_t cols = is_even ? 1 : 1 + step % 4; cols <= GATHER_COLS_MAX;
             cols += is_even ? 1 : 4) {
            const struct shape s = {
                .kind = LEAF_GATHER, .size = size, .cols = cols, .gather_step = step};
            const struct shape nested = with_counts(s, &nests[(step + cols / 2) % 6]);

            if (!visit_variants(sweep, &nested, is_even ? VARIED : 2))
                return false;
        }
    }
    for (size_t spread = 2; spread <= 9; spread++) {
        for (size_t cols = 1; cols <= SIDE_MAX; cols++) {
            const struct shape s = {
                .kind = LEAF_GATHER, .size = size, .cols = cols, .gather_step = spread * size};
            const struct shape nested =
                with_counts(s, &long_nests[(spread + cols) % COUNT_OF(long_nests)]);

            if (!visit_variants(sweep, &nested, VARIED))
                return false;
        }
    }
    return true;
}

static bool sweep_streams(struct sweep *sweep)
{
    for (size_t bytes = 1; bytes <= STREAM_MAX; bytes++) {
        const struct shape s = {.kind = LEAF_STREAM, .size = bytes, .cols = 1};
        const struct shape once = with_counts(s, &(struct counts){1, 1});

        if (!visit_variants(sweep, &once, VARIED))
            return false;
    }
    return true;
}

uint64_t cases_sweep(uint64_t seed, cases_visitor *visitor, void *context)
{
    struct sweep sweep = {seed, 0, visitor, context};
    bool more = sweep_rows(&sweep) && sweep_long_rows(&sweep) && sweep_bordered(&sweep) &&
                sweep_fills(&sweep) && sweep_streams(&sweep);

    for (size_t size = 1; more && size <= 8; size *= 2)
        more = sweep_transposes(&sweep, LEAF_TRANSPOSE, size) && sweep_narrow(&sweep, size) &&
               sweep_streamed(&sweep, size) && sweep_transposes(&sweep, LEAF_TRANSPOSE_AT, size) &&
               sweep_gathers(&sweep, size);
    return sweep.index;
}
