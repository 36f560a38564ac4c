/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the layout of a picture with a move that the test makes element by element. In pictures
 * that show all coordinates, every cell is checked; in others, the required coordinates.
 * `test_picture SEED` reproduces a run.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/explain/picture.h"
#include "tests/unit/explain/hand.h"

enum { CASES = 1500, SMALL = 5, EXTENT_MAX = SMALL + 6, ELEMENTS_MAX = 40000, EDGES = 12 };

static uint64_t seed;
static struct hand hand;
static struct explained explained;
static struct picture picture;

/* A move computed by its definition. Elements are numbered in the order of their coordinates. */
static struct {
    uint32_t padded[MLI_MAX_RANK], whole[MLI_MAX_RANK];
    enum picture_state src[ELEMENTS_MAX], dst[ELEMENTS_MAX]; /* src includes the padding */
    uint64_t from[ELEMENTS_MAX]; /* the source element of each written element of dst */
} oracle;

static uint64_t number_of(const uint32_t *extents, const uint64_t *at)
{
    uint64_t number = 0;
    for (uint32_t d = 0; d < hand.rank; d++)
        number = number * extents[d] + at[d];
    return number;
}

/* Advances `at` to the next coordinate. Returns false after the last coordinate. */
static bool next(const uint32_t *extents, uint64_t *at)
{
    for (uint32_t d = hand.rank; d-- > 0;) {
        if (++at[d] < extents[d])
            return true;
        at[d] = 0;
    }
    return false;
}

static uint64_t size_of(uint32_t d)
{
    return hand.size[d] ? hand.size[d] : oracle.padded[d] - hand.offset[d];
}

static bool is_real(const uint64_t *at)
{
    for (uint32_t d = 0; d < hand.rank; d++) {
        if (at[d] < hand.pre[d] || at[d] >= hand.pre[d] + hand.shape[d])
            return false;
    }
    return true;
}

/* Moves the element at `at` of the padded source, unless the move leaves it out. */
static void move_one(const uint64_t *at)
{
    uint64_t to[MLI_MAX_RANK] = {0}, in_src[MLI_MAX_RANK] = {0},
             number = number_of(oracle.padded, at);
    bool real = is_real(at), over = false;
    oracle.src[number] = real ? PICTURE_OUTSIDE : PICTURE_PADDING_SKIPPED;
    for (uint32_t d = 0; d < hand.rank; d++) {
        if (at[d] < hand.offset[d] || at[d] >= hand.offset[d] + size_of(d))
            return;
        over = over || (at[d] - hand.offset[d]) % hand.step[d] > 0;
        in_src[d] = at[d] - hand.pre[d];
    }
    if (over) {
        oracle.src[number] = real ? PICTURE_SKIPPED : PICTURE_PADDING_SKIPPED;
        return;
    }
    oracle.src[number] = real ? PICTURE_TAKEN : PICTURE_PADDING;
    for (uint32_t i = 0; i < hand.rank; i++) {
        uint32_t d = hand.perm[i];
        to[i] = hand.at[i] + (at[d] - hand.offset[d]) / hand.step[d];
    }
    uint64_t there = number_of(oracle.whole, to);
    oracle.dst[there] = real ? PICTURE_WRITTEN : PICTURE_ZERO;
    oracle.from[there] = real ? number_of(hand.shape, in_src) : 0;
}

static void move(void)
{
    uint64_t at[MLI_MAX_RANK] = {0}, elements = 1;
    for (uint32_t d = 0; d < hand.rank; d++) {
        oracle.padded[d] = hand.shape[d] + hand.pre[d] + hand.post[d];
        oracle.whole[d] = explained.dst.shape[d];
        elements *= oracle.whole[d];
    }
    assert_true(elements <= ELEMENTS_MAX);
    for (uint64_t i = 0; i < elements; i++)
        oracle.dst[i] = hand.whole[0] ? PICTURE_THERE : PICTURE_EMPTY;
    do
        move_one(at);
    while (next(oracle.padded, at));
}

static struct picture_views views; /* views of both sides; all 0: the default views */

static void lay_out(size_t room)
{
    struct picture_room rooms = {.edges = EDGES};
    for (int level = 0; level < PICTURE_LEVELS; level++)
        rooms.level[level] = room;
    hand_explain(&hand, &explained);
    explained.views = views;
    picture_init(&picture, &explained, &rooms);
}

/* Sets the views of both sides to the defaults, or to two random dimensions. */
static void random_views(struct rng *rng)
{
    uint32_t last = hand.rank - 1;
    views = (struct picture_views){0};
    if (hand.rank < 2 || rng_chance(rng, 30))
        return;
    for (int side = 0; side < 2; side++) {
        struct picture_view *view = side ? &views.dst : &views.src;
        view->rows = (uint32_t)rng_between(rng, 0, last);
        view->columns = (view->rows + (uint32_t)rng_between(rng, 1, last)) % hand.rank;
    }
}

/* Computes the coordinates of a cell. Returns false if the cell is a gap or a break. */
static bool coordinates(const struct picture_side *side, const size_t *slots, uint64_t *at)
{
    for (int level = 0; level < PICTURE_LEVELS; level++) {
        const struct picture_axis *axis = &side->axis[level];
        const struct picture_slot *slot = &axis->slot[slots[level]];
        if (axis->dim >= 0 && slot->kind != SLOT_COORDINATE)
            return false;
        if (axis->dim >= 0)
            at[axis->dim] = slot->at;
    }
    return true;
}

static bool next_cell(const struct picture_side *side, size_t *slots)
{
    for (int level = PICTURE_LEVELS; level-- > 0;) {
        if (++slots[level] < side->axis[level].count)
            return true;
        slots[level] = 0;
    }
    return false;
}

/* Returns the number of the source element that a cell claims to show. */
static uint64_t origin(const struct picture_side *side, const size_t *slots)
{
    uint64_t sample[MLI_MAX_RANK] = {0}, at[MLI_MAX_RANK] = {0};
    picture_samples(side, slots, sample);
    for (uint32_t d = 0; d < hand.rank; d++)
        at[d] = picture_coordinate(&picture, d, sample[d]);
    return number_of(hand.shape, at);
}

static size_t check_src(void)
{
    size_t slots[PICTURE_LEVELS] = {0}, cells = 0;
    do {
        uint64_t at[MLI_MAX_RANK] = {0}, in_src[MLI_MAX_RANK] = {0};
        assert_true(coordinates(&picture.src, slots, at));
        enum picture_state want = oracle.src[number_of(oracle.padded, at)];
        assert_int_equal(picture_state(&picture.src, slots), want);
        for (uint32_t d = 0; d < hand.rank; d++)
            in_src[d] = at[d] - hand.pre[d];
        if (want == PICTURE_TAKEN)
            assert_int_equal(origin(&picture.src, slots), number_of(hand.shape, in_src));
        cells++;
    } while (next_cell(&picture.src, slots));
    return cells;
}

static size_t check_dst(void)
{
    size_t slots[PICTURE_LEVELS] = {0}, cells = 0;
    do {
        uint64_t at[MLI_MAX_RANK] = {0};
        enum picture_state state = picture_state(&picture.dst, slots);
        if (!coordinates(&picture.dst, slots, at)) {
            assert_true(state == PICTURE_GAP || state == PICTURE_BREAK);
            continue;
        }
        uint64_t number = number_of(oracle.whole, at);
        assert_int_equal(state, oracle.dst[number]);
        if (state == PICTURE_WRITTEN)
            assert_int_equal(origin(&picture.dst, slots), oracle.from[number]);
        cells++;
    } while (next_cell(&picture.dst, slots));
    return cells;
}

/*
 * Advances to the next cell in the order of the tensor's dimensions, not in the order of the
 * picture's levels.
 */
static bool next_element(const struct picture_side *side, size_t *slots)
{
    for (uint32_t d = hand.rank; d-- > 0;) {
        enum picture_level level = side->level_of[d];
        if (++slots[level] < side->axis[level].count)
            return true;
        slots[level] = 0;
    }
    return false;
}

/*
 * Checks that the cells are in the order of memory: the n-th cell, gaps included, is the n-th
 * element of memory, counted from the tensor's first element. In this test, gaps have at most three
 * slots, and no breaks.
 */
static void check_memory(void)
{
    size_t slots[PICTURE_LEVELS] = {0};
    uint64_t place = 0;
    do {
        uint64_t at[MLI_MAX_RANK], offset = 0;
        if (coordinates(&picture.dst, slots, at)) {
            for (uint32_t i = 0; i < hand.rank; i++)
                offset +=
                    explained.dst.shape[i] > 1 ? at[i] * (uint64_t)explained.dst.strides[i] : 0;
            assert_int_equal(place, offset);
        }
        place++;
    } while (next_element(&picture.dst, slots));
}

static bool has_unit_extents(void)
{
    for (uint32_t i = 0; i < hand.rank; i++) {
        if (explained.dst.shape[i] == 1)
            return true;
    }
    return false;
}

static void test_every_cell(void **state)
{
    const size_t cases = scaled(CASES);
    size_t gaps = 0, checked = 0;

    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct rng rng = rng_for_case(seed, i);
        uint64_t all_src = 1, all_dst = 1;
        hand_random(&rng, SMALL, &hand);
        random_views(&rng);
        lay_out(60);
        move();
        for (uint32_t d = 0; d < hand.rank; d++) {
            all_src *= oracle.padded[d];
            all_dst *= oracle.whole[d];
        }
        assert_int_equal(check_src(), all_src);
        assert_int_equal(check_dst(), all_dst);
        gaps += picture_count(&picture.dst, PICTURE_GAP);
        /* The stride of an axis of one element may have any value. */
        if (!has_unit_extents()) {
            check_memory();
            checked++;
        }
    }
    assert_true(gaps > cases && checked > cases / 4);
}

/*
 * Checks that slots ascend and cover the extent, and that each break replaces at least two
 * coordinates.
 */
static void check_axis(const struct picture_axis *axis, size_t room)
{
    uint64_t to = 0, coordinates_shown = 0;
    size_t taken = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const struct picture_slot *slot = &axis->slot[i];
        taken++;
        /* Skip breaks inside gaps, which have no coordinate. */
        if (slot->kind == SLOT_GAP || (slot->kind == SLOT_BREAK && slot->at != to))
            continue;
        assert_int_equal(slot->at, to);
        to += slot->kind == SLOT_BREAK ? slot->left_out : 1;
        coordinates_shown += slot->kind == SLOT_COORDINATE;
        assert_true(slot->kind == SLOT_COORDINATE || slot->left_out > 1);
    }
    assert_int_equal(to, axis->extent);
    assert_true(coordinates_shown > 0);
    assert_true(taken <= (room > EDGES ? room : EDGES) + 6);
}

static bool shows(const struct picture_axis *axis, uint64_t at)
{
    for (size_t i = 0; i < axis->count; i++) {
        if (axis->slot[i].kind == SLOT_COORDINATE && axis->slot[i].at == at)
            return true;
    }
    return false;
}

/*
 * Checks that the picture shows the first and the last coordinate, and the coordinates on both
 * sides of each edge of the window.
 */
static void check_edges(const struct picture_side *side)
{
    for (int level = 0; level < PICTURE_LEVELS; level++) {
        const struct picture_axis *axis = &side->axis[level];
        if (axis->dim < 0)
            continue;
        const mli_explained_axis *a = &explained.move.axis[axis->source_dim];
        uint64_t begin = side->is_dst ? a->dst_offset : a->offset;
        uint64_t end = begin + (side->is_dst ? a->count : a->size);
        assert_true(shows(axis, begin) && shows(axis, 0) && shows(axis, axis->extent - 1));
        assert_true(begin == 0 || shows(axis, begin - 1));
        assert_true(shows(axis, end - 1));
        assert_true(end == axis->extent || shows(axis, end));
        if (!side->is_dst)
            assert_true(shows(axis, a->offset + (a->count - 1) * a->step));
    }
}

static void test_left_out(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, CASES + i);
        uint32_t most = rng_chance(&rng, 50) ? 1000 : rng_between(&rng, 10, 100);
        size_t room = rng_between(&rng, 6, 60);
        hand_random(&rng, most, &hand);
        random_views(&rng);
        lay_out(room);
        for (int level = 0; level < PICTURE_LEVELS; level++) {
            check_axis(&picture.src.axis[level], room);
            check_axis(&picture.dst.axis[level], room);
        }
        /*
         * Six samples, two coordinates at each of six edges, and the gaps between the edges take
         * at most 38 cells: then all edges are shown.
         */
        if (room >= 38) {
            check_edges(&picture.src);
            check_edges(&picture.dst);
        }
    }
}

/* Positions on the scale ascend with the samples, and cover the scale from end to end. */
static void test_scale(void **state)
{
    (void)state;
    views = (struct picture_views){0};
    hand = (struct hand){.rank = 1, .elem = 1, .shape = {100000}, .step = {10}};
    lay_out(20);
    assert_int_equal(picture_position(&picture, 0, 0, 1000), 0);
    assert_int_equal(picture_position(&picture, 0, 9999, 1000), 1000);
    for (uint64_t k = 1; k < 10000; k++)
        assert_true(picture_position(&picture, 0, k - 1, 1000) <=
                    picture_position(&picture, 0, k, 1000));
}

/*
 * When dimensions are chosen to be followed by colour, permuted dimensions come before others;
 * dimensions of one sample are never chosen.
 */
static void test_followed(void **state)
{
    (void)state;
    views = (struct picture_views){0};
    hand = (struct hand){.rank = 4, .elem = 1, .shape = {2, 3, 1, 5}, .perm = {1, 0, 2, 3}};
    lay_out(20);
    assert_int_equal(picture.followed_count, 3);
    assert_int_equal(picture.followed[0], 1);
    assert_int_equal(picture.followed[1], 0);
    assert_int_equal(picture.followed[2], 3);
}

static void check_levels(const struct picture_side *side, const enum picture_level *want)
{
    for (uint32_t d = 0; d < hand.rank; d++)
        assert_int_equal(side->level_of[d], want[d]);
}

/* The default view of a side takes its last dimension for channels if the move, the extents or the
 * padding suggest it. */
static void test_default_views(void **state)
{
    (void)state;
    static const enum picture_level hwc[] = {PICTURE_ROWS, PICTURE_COLUMNS, PICTURE_PLANES},
                                    chw[] = {PICTURE_PLANES, PICTURE_ROWS, PICTURE_COLUMNS},
                                    nhwc[] = {PICTURE_LINES, PICTURE_ROWS, PICTURE_COLUMNS,
                                              PICTURE_PLANES},
                                    nchw[] = {PICTURE_LINES, PICTURE_PLANES, PICTURE_ROWS,
                                              PICTURE_COLUMNS};
    static const struct {
        struct hand hand;
        const enum picture_level *src, *dst;
    } cases[] = {
        {{.rank = 3, .elem = 1, .shape = {5, 6, 3}}, hwc, hwc},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 4}, .perm = {2, 0, 1}}, hwc, chw},
        {{.rank = 3, .elem = 1, .shape = {3, 5, 6}, .perm = {1, 2, 0}}, chw, hwc},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 5}}, chw, chw},
        {{.rank = 3, .elem = 1, .shape = {3, 6, 3}}, chw, chw},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 3}, .size = {5, 2, 3}}, hwc, hwc},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 5}, .size = {5, 6, 2}}, chw, chw},
        {{.rank = 4, .elem = 1, .shape = {2, 5, 6, 1}}, nhwc, nhwc},
        {{.rank = 4, .elem = 1, .shape = {2, 5, 6, 3}, .perm = {0, 3, 1, 2}}, nhwc, nchw},
        {{.rank = 4, .elem = 1, .shape = {5, 6, 2, 3}}, nchw, nchw},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 8}, .perm = {2, 0, 1}}, hwc, chw},
        {{.rank = 3, .elem = 1, .shape = {8, 5, 6}, .perm = {1, 2, 0}}, chw, hwc},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 8}, .perm = {1, 0, 2}}, chw, chw},
        {{.rank = 4, .elem = 1, .shape = {2, 5, 6, 8}, .perm = {0, 3, 1, 2}}, nhwc, nchw},
        {{.rank = 4, .elem = 1, .shape = {2, 8, 6, 6}, .perm = {0, 2, 3, 1}}, nchw, nhwc},
        {{.rank = 4, .elem = 1, .shape = {3, 3, 8, 9}, .perm = {3, 0, 1, 2}}, nchw, nhwc},
        {{.rank = 3, .elem = 1, .shape = {6, 6, 8}}, hwc, hwc},
        {{.rank = 3, .elem = 1, .shape = {6, 6, 6}}, chw, chw},
        {{.rank = 3, .elem = 1, .shape = {1, 1, 8}}, chw, chw},
        {{.rank = 3, .elem = 1, .shape = {1, 1, 8}, .perm = {2, 0, 1}}, chw, chw},
        {{.rank = 3, .elem = 1, .shape = {5, 6, 8}, .pre = {1, 0}, .post = {0, 1}}, hwc, hwc},
        {{.rank = 3, .elem = 1, .shape = {6, 6, 8}, .pre = {0, 1, 1}}, chw, chw},
        {{.rank = 4, .elem = 1, .shape = {2, 5, 7, 6}, .pre = {0, 1, 1}}, nhwc, nhwc},
    };
    views = (struct picture_views){0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        hand = cases[i].hand;
        lay_out(20);
        check_levels(&picture.src, cases[i].src);
        check_levels(&picture.dst, cases[i].dst);
    }
}

/*
 * Parses values of --view for a move from HWC to CHW: valid values, and invalid values with a part
 * of their error message.
 */
static void test_given_views(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t src_rows, src_columns, dst_rows, dst_columns;
    } good[] = {
        {"0,1", 0, 1, 1, 2},     {"1,0", 1, 0, 1, 2},     {"0,2", 0, 2, 0, 1},
        {"-2,-1", 1, 2, 0, 2},   {"2,1:0,2", 2, 1, 0, 2}, {"HWC", 0, 1, 1, 2},
        {"hwc:chw", 0, 1, 1, 2}, {"CHW:0,1", 1, 2, 0, 1}, {"0,1:WCH", 0, 1, 2, 0},
    };
    static const char *const bad[][2] = {
        {"", "two different dimensions from 0 to 2"},
        {"0", "two different dimensions"},
        {"0,0", "two different dimensions"},
        {"0,3", "two different dimensions"},
        {"-4,0", "two different dimensions"},
        {"0,1,2", "two different dimensions"},
        {"0,-", "two different dimensions"},
        {"0,1:", "two different dimensions"},
        {"0,1:1", "two different dimensions"},
        {" 0,1", "two different dimensions"},
        {"0,99999999999999999999", "two different"},
        {"HW", "HW has 2 letters, but the tensor has 3"},
        {"NHWC", "has 4 letters"},
        {"ABC", "requires the letters H (rows) and W"},
        {"HWC:HCC", "requires the letters"},
        {"HHC", "requires the letters"},
        {"0000000000000000000000000000000000,1", "dimensions (such as 0,1) or a layout"},
    };
    views = (struct picture_views){0};
    hand = (struct hand){.rank = 3, .elem = 1, .shape = {5, 6, 3}, .perm = {2, 0, 1}};
    lay_out(20);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct picture_views got;
        struct fault fault;
        assert_int_equal(picture_views_parse(good[i].text, &explained.move, &got, &fault), 0);
        assert_int_equal(got.src.rows, good[i].src_rows);
        assert_int_equal(got.src.columns, good[i].src_columns);
        assert_int_equal(got.dst.rows, good[i].dst_rows);
        assert_int_equal(got.dst.columns, good[i].dst_columns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct picture_views got;
        struct fault fault = {0};
        assert_int_equal(picture_views_parse(bad[i][0], &explained.move, &got, &fault), -1);
        assert_non_null(strstr(fault.text, bad[i][1]));
        assert_non_null(strstr(fault.text, "--view "));
    }
    hand = (struct hand){.rank = 1, .elem = 1, .shape = {5}};
    lay_out(20);
    struct picture_views got;
    struct fault fault;
    assert_int_equal(picture_views_parse("0,1", &explained.move, &got, &fault), -1);
    assert_non_null(strstr(fault.text, "one dimension"));
}

/* The picture of a huge tensor has at most PICTURE_SLOTS_MAX coordinates on an axis. */
static void test_extremes(void **state)
{
    (void)state;
    views = (struct picture_views){0};
    const uint32_t huge = UINT32_MAX;
    hand = (struct hand){.rank = 4,
                         .elem = 4,
                         .shape = {huge, huge, huge, huge},
                         .pre = {255, 255, 255, 255},
                         .post = {255, 255, 255, 255},
                         .offset = {huge, 1, 0, 254},
                         .step = {1, huge, 1000000, 1},
                         .stride = {1, 1u << 30, 7, 1u << 20}};
    for (size_t room = 6; room <= 64; room++) {
        lay_out(room);
        for (int level = 0; level < PICTURE_LEVELS; level++) {
            check_axis(&picture.src.axis[level], room);
            assert_true(picture.dst.axis[level].count <= PICTURE_SLOTS_MAX);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell),    cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_default_views), cmocka_unit_test(test_given_views),
        cmocka_unit_test(test_scale),         cmocka_unit_test(test_followed),
        cmocka_unit_test(test_extremes),
    };
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
