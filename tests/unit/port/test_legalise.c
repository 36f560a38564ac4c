/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_legalise_*() with random plans and random limits. The pieces move the plan's bytes,
 * each once; each piece is within the limits and has the right place. `test_legalise SEED` repeats
 * a run.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mli_engine.h"
#include "tests/unit/port/plans.h"

enum { CASES = 1500 };

static uint64_t seed;
static struct moved whole, pieces;

static void random_caps(struct mli_channel_caps *caps, struct rng *rng)
{
    *caps = (struct mli_channel_caps){.loops = rng_below(rng, MLI_MAX_RANK + 1)};
    if (rng_chance(rng, 40))
        caps->count_max = rng_between(rng, 1, 9);
    if (rng_chance(rng, 40))
        caps->run_max = rng_between(rng, 1, 60);
    if (rng_chance(rng, 40))
        caps->step_max = rng_between(rng, 1, 2000);
    if (rng_chance(rng, 40))
        caps->bytes_max = rng_between(rng, 1, 3000);
}

static void assert_within_limits(const struct mli_descriptor *piece,
                                 const struct mli_channel_caps *caps)
{
    const struct mli_copy_box *box = &piece->box;

    assert_true(box->run >= 1);
    assert_true(caps->run_max == 0 || box->run <= caps->run_max);
    assert_true(caps->bytes_max == 0 || piece->bytes <= caps->bytes_max);
    assert_true(box->loops <= caps->loops);
    assert_int_equal(piece->bytes, box->run * plan_rows(box));
    for (size_t i = 0; i < box->loops; i++) {
        assert_true(box->loop[i].count >= 2);
        assert_true(caps->count_max == 0 || box->loop[i].count <= caps->count_max);
        assert_true(caps->step_max == 0 || (box->loop[i].src_step <= caps->step_max &&
                                            box->loop[i].dst_step <= caps->step_max));
    }
}

/* Row n of the piece must be row piece->row + n of its descriptor. */
static void assert_right_rows(const struct mli_descriptor *piece, const struct mli_plan *plan)
{
    const struct mli_copy_box from = plan_descriptor(plan, piece->index);
    const uint64_t rows = plan_rows(&piece->box);

    for (uint64_t i = 0; i < rows; i++) {
        const uint8_t *src, *row_src;
        uint8_t *dst, *row_dst;

        plan_row(&piece->box, i, &src, &dst);
        plan_row(&from, piece->row + i, &row_src, &row_dst);
        assert_true(dst >= row_dst && dst + piece->box.run <= row_dst + from.run);
        assert_int_equal(src == NULL, row_src == NULL);
        assert_true(!src || src - row_src == dst - row_dst);
    }
}

static void check_case(const struct mli_plan *plan, const struct mli_channel_caps *caps)
{
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;
    uint32_t index = 0;
    uint64_t row = 0, count = 0;

    moved_clear(&whole);
    moved_clear(&pieces);
    moved_add_plan(&whole, plan);
    assert_int_equal(whole.bytes, plan->bytes);
    mli_legalise_init(&legaliser, plan, caps);
    while (mli_legalise_next(&legaliser, &piece)) {
        assert_within_limits(&piece, caps);
        assert_true(piece.index <= plan->slabs);
        assert_right_rows(&piece, plan);
        assert_true(piece.index > index || (piece.index == index && piece.row >= row));
        index = piece.index;
        row = piece.row;
        count++;
        moved_add_box(&pieces, &piece.box);
    }
    assert_false(mli_legalise_next(&legaliser, &piece)); /* the end is final */
    assert_int_equal(mli_legalise_count(plan, caps), count);
    assert_int_equal(pieces.bytes, whole.bytes);
    assert_true(moved_same(&whole, &pieces));
}

static void test_random_plans(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        struct mli_channel_caps caps;
        struct mli_plan plan;

        plan_random(&plan, &rng);
        random_caps(&caps, &rng);
        check_case(&plan, &caps);
    }
}

/* Without limits, a descriptor stays whole. */
static void test_no_limits(void **state)
{
    const struct mli_channel_caps caps = {.loops = MLI_MAX_RANK};

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        struct mli_legaliser legaliser;
        struct mli_descriptor piece;
        struct mli_plan plan;
        uint32_t count = 0;

        plan_random(&plan, &rng);
        mli_legalise_init(&legaliser, &plan, &caps);
        while (mli_legalise_next(&legaliser, &piece))
            count++;
        assert_int_equal(count, plan.slabs + (plan.box.run > 0));
    }
}

/* Pieces keep the inner loops, one for each hardware loop, and keep them whole if they fit. */
static void test_inner_loops_are_kept(void **state)
{
    const struct mli_copy_loop loops[] = {{3, 100, 1000}, {4, 10, 200}, {5, 7, 30}};
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 0, 20, 3, loops);
    for (uint32_t kept = 0; kept <= 3; kept++) {
        const struct mli_channel_caps caps = {.loops = kept};
        const uint32_t expected[] = {60, 12, 3, 1};
        struct mli_legaliser legaliser;
        struct mli_descriptor piece;
        uint32_t count = 0;

        mli_legalise_init(&legaliser, &plan, &caps);
        for (; mli_legalise_next(&legaliser, &piece); count++)
            assert_int_equal(piece.box.loops, kept);
        assert_int_equal(count, expected[kept]);
    }
}

/* A copied legaliser continues at the same place as the original. */
static void test_copies_continue(void **state)
{
    const struct mli_copy_loop loops[] = {{3, 100, 1000}, {4, 10, 200}};
    const struct mli_channel_caps caps = {.loops = 1, .count_max = 3, .run_max = 7};
    struct mli_legaliser original, copy;
    struct mli_descriptor a, b;
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 0, 20, 2, loops);
    mli_legalise_init(&original, &plan, &caps);
    for (int i = 0; i < 5; i++)
        assert_true(mli_legalise_next(&original, &a));
    copy = original;
    while (mli_legalise_next(&original, &a)) {
        assert_true(mli_legalise_next(&copy, &b));
        assert_ptr_equal(a.box.dst, b.box.dst);
        assert_int_equal(a.row, b.row);
    }
    assert_false(mli_legalise_next(&copy, &b));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_no_limits),
        cmocka_unit_test(test_inner_loops_are_kept),
        cmocka_unit_test(test_copies_continue),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
