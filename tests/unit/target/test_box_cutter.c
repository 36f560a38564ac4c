/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small boxes: the number of pieces and its lower bound, compared with the least number that a
 * search over all ways to divide the box finds.
 *
 *     test_target_box_cutter [SEED [CASES]]
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "target/controller/box_cutter.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum {
    DIMENSIONS = 4, /* three loops, and the run as the last dimension */
    RUN = DIMENSIONS - 1,
    CELLS_MAX = 16,
    UNKNOWN = 255
};

static uint64_t seed = 16, cases = 2000;

/* A box as a grid of cells: bytes of the run, iterations of the loops. */
struct grid {
    uint32_t extent[DIMENSIONS], cells;
    struct cut_limits limits;
    uint8_t least[1 << CELLS_MAX]; /* least number of pieces for a set of cells, or UNKNOWN */
};

static struct grid grid;

/*
 * Returns how many loops a range of cells needs; a number above all limits if the range is
 * impossible.
 */
static uint32_t loops_for(uint64_t length, uint64_t unit, uint64_t count_max)
{
    uint32_t best = 100;

    if (length <= unit)
        return 0;
    for (uint64_t outer = 2; outer <= count_max && outer <= length; outer++)
        if (length % outer == 0) {
            uint32_t loops = 1 + loops_for(length / outer, unit, count_max);

            best = loops < best ? loops : best;
        }
    return best;
}

static bool is_legal(const uint32_t size[DIMENSIONS])
{
    uint64_t bytes = size[RUN];
    uint32_t loops = loops_for(size[RUN], grid.limits.run_max, grid.limits.count_max);

    for (int d = 0; d < RUN; d++) {
        loops += loops_for(size[d], 1, grid.limits.count_max);
        bytes *= size[d];
    }
    if (bytes > grid.limits.bytes_max)
        return false;
    return loops <= grid.limits.loops ||
           (bytes == size[RUN] && bytes <= grid.limits.linear_run_max);
}

/* Returns the set of the cells of a piece, or 0 if the piece leaves the grid. */
static uint32_t cells_of(uint32_t corner, const uint32_t size[DIMENSIONS])
{
    uint32_t at[DIMENSIONS], rest = corner, cells = 0;

    for (int d = RUN; d >= 0; d--) {
        at[d] = rest % grid.extent[d];
        rest /= grid.extent[d];
        if (at[d] + size[d] > grid.extent[d])
            return 0;
    }
    for (uint32_t cell = 0; cell < grid.cells; cell++) {
        bool in = true;

        rest = cell;
        for (int d = RUN; d >= 0; d--) {
            const uint32_t place = rest % grid.extent[d];

            rest /= grid.extent[d];
            in = in && place >= at[d] && place < at[d] + size[d];
        }
        cells |= (uint32_t)in << cell;
    }
    return cells;
}

/* Advances to the next size within the grid. Returns false after the last size. */
static bool next_size(uint32_t size[DIMENSIONS])
{
    for (int d = RUN; d >= 0; d--) {
        if (size[d]++ < grid.extent[d])
            return true;
        size[d] = 1;
    }
    return false;
}

/* Returns the least number of pieces that cover a set of cells. */
static uint32_t search(uint32_t cells)
{
    uint32_t size[DIMENSIONS] = {1, 1, 1, 1}, best = UNKNOWN - 1;

    if (cells == 0)
        return 0;
    if (grid.least[cells] != UNKNOWN)
        return grid.least[cells];
    do {
        const uint32_t piece = cells_of((uint32_t)__builtin_ctz(cells), size);

        if (piece != 0 && (piece & ~cells) == 0 && is_legal(size)) {
            const uint32_t pieces = 1 + search(cells & ~piece);

            best = pieces < best ? pieces : best;
        }
    } while (next_size(size));
    grid.least[cells] = (uint8_t)best;
    return best;
}

static void draw_grid(struct rng *rng)
{
    struct cut_limits *limits = &grid.limits;

    do {
        grid.cells = 1;
        for (int d = 0; d < DIMENSIONS; d++) {
            grid.extent[d] = rng_chance(rng, 30) ? 1 : rng_between(rng, 1, 8);
            grid.cells *= grid.extent[d];
        }
    } while (grid.cells > CELLS_MAX);
    limits->loops = rng_below(rng, 4);
    limits->count_max = rng_chance(rng, 30) ? UINT64_MAX : rng_between(rng, 2, 5);
    limits->run_max = rng_chance(rng, 30) ? UINT64_MAX : rng_between(rng, 1, 5);
    limits->linear_run_max = limits->run_max;
    if (limits->run_max != UINT64_MAX && limits->loops > 0 && rng_chance(rng, 30))
        limits->linear_run_max = rng_between(rng, (uint32_t)limits->run_max, 12);
    limits->step_max = limits->gap_max = UINT64_MAX;
    limits->bytes_max = rng_chance(rng, 70) ? UINT64_MAX : rng_between(rng, 1, 10);
    limits->granularity = limits->alignment = 1;
    memset(grid.least, UNKNOWN, sizeof grid.least);
}

static void begin_cutter(struct box_cutter *cutter)
{
    static uint8_t src[4096], dst[4096];
    struct mli_descriptor whole = {.box = {.src = src, .dst = dst, .run = grid.extent[RUN]}};

    for (size_t d = 0; d < RUN; d++)
        if (grid.extent[d] > 1)
            whole.box.loop[whole.box.loops++] =
                (struct mli_copy_loop){grid.extent[d], 11U << d, 1000U >> d};
    cutter_init(cutter, &whole, true, &grid.limits);
}

static void test_least_number(void **state)
{
    uint64_t fewest = 0, proven = 0, pieces_all = 0, least_all = 0, bound_all = 0;

    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct rng rng = rng_for_case(seed, i);
        struct box_cutter cutter;
        uint64_t least, pieces, bound;

        draw_grid(&rng);
        begin_cutter(&cutter);
        least = search((1U << grid.cells) - 1);
        pieces = cutter_count(&cutter);
        bound = cutter_least(&cutter);
        if (bound > least || pieces < least)
            fail_msg("case %" PRIu64 ", seed %" PRIu64 ": bound %" PRIu64 ", least %" PRIu64
                     ", pieces %" PRIu64,
                     i, seed, bound, least, pieces);
        fewest += pieces == least;
        proven += bound == least;
        pieces_all += pieces;
        least_all += least;
        bound_all += bound;
    }
    print_message("of %" PRIu64 " boxes (seed %" PRIu64 "), %" PRIu64
                  " in the fewest pieces, %" PRIu64 " with an exact bound; pieces %" PRIu64
                  ", fewest %" PRIu64 ", bounds %" PRIu64 "\n",
                  cases, seed, fewest, proven, pieces_all, least_all, bound_all);
    assert_true(fewest * 100 >= cases * 80);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_number),
    };

    if (argc > 1)
        seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        cases = strtoull(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
