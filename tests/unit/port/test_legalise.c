/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_legalise_*() with random plans and random limits. The pieces must move each byte of the
 * plan exactly once, and each piece must be within the limits and know its place in the plan.
 * `test_legalise SEED` repeats a run.
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

static uint64_t seed, cpu_bytes;
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
    if (rng_chance(rng, 20))
        caps->fill_max = rng_between(rng, 1, 60);
    if (rng_chance(rng, 20))
        caps->linear_max = rng_between(rng, 1, 200);
    if (rng_chance(rng, 20))
        caps->gap_max = rng_between(rng, 0, 300);
    if (rng_chance(rng, 20))
        caps->flags = MLI_CHANNEL_DISTINCT_ROWS;
    if (rng_chance(rng, 40))
        caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    for (size_t i = 0; i < MLI_MAX_RANK; i++) {
        if (rng_chance(rng, 10))
            caps->loop[i].count_max = rng_between(rng, 1, 9);
        if (rng_chance(rng, 10))
            caps->loop[i].step_max = rng_between(rng, 1, 2000);
    }
}

/* Adds limits that make the processor move some of the pieces. */
static void random_demands(struct mli_channel_caps *caps, struct rng *rng)
{
    if (rng_chance(rng, 40))
        caps->granularity = 1u << rng_below(rng, 4);
    if (rng_chance(rng, 40))
        caps->src_align = 1u << rng_below(rng, 5);
    if (rng_chance(rng, 40))
        caps->dst_align = 1u << rng_below(rng, 7);
    if (rng_chance(rng, 30))
        caps->run_min = rng_below(rng, 100);
    if (rng_chance(rng, 30))
        caps->piece_min = rng_below(rng, 300);
    if (rng_chance(rng, 50))
        caps->piece_cpu = rng_between(rng, 1, 3000);
}

static size_t gap(size_t step, size_t run)
{
    return step > run ? step - run : run - step;
}

static bool is_multiple(uint64_t value, size_t unit)
{
    return unit < 2 || value % unit == 0;
}

/* Returns whether the addresses of all runs are aligned: that of the first run, and all steps. */
static void assert_aligned(const struct mli_copy_box *box, const struct mli_channel_caps *caps)
{
    assert_true(is_multiple(box->run, caps->granularity));
    assert_true(is_multiple((uintptr_t)box->dst, caps->granularity));
    assert_true(is_multiple((uintptr_t)box->dst, caps->dst_align));
    assert_true(is_multiple((uintptr_t)box->src, caps->granularity));
    assert_true(is_multiple((uintptr_t)box->src, caps->src_align));
    for (size_t i = 0; i < box->loops; i++) {
        assert_true(is_multiple(box->loop[i].dst_step, caps->granularity));
        assert_true(is_multiple(box->loop[i].dst_step, caps->dst_align));
        if (!box->src)
            continue;
        assert_true(is_multiple(box->loop[i].src_step, caps->granularity));
        assert_true(is_multiple(box->loop[i].src_step, caps->src_align));
    }
}

static void assert_for_processor(const struct mli_descriptor *piece,
                                 const struct mli_channel_caps *caps)
{
    const bool demands = caps->granularity > 1 || caps->src_align > 1 || caps->dst_align > 1 ||
                         caps->run_min > 0 || caps->piece_min > 0;

    assert_true(demands);
    assert_true(piece->bytes <= (caps->piece_cpu ? caps->piece_cpu : MLI_PIECE_CPU_BYTES));
    assert_int_equal(piece->bytes, piece->box.run * plan_rows(&piece->box));
}

static void assert_within_limits(const struct mli_descriptor *piece,
                                 const struct mli_channel_caps *caps)
{
    const struct mli_copy_box *box = &piece->box;
    const size_t run_max =
        box->loops == 0 && caps->linear_max > caps->run_max ? caps->linear_max : caps->run_max;

    assert_true(box->run >= 1);
    assert_true(caps->run_max == 0 || box->run <= run_max);
    assert_true(caps->fill_max == 0 || box->src || box->run <= caps->fill_max);
    assert_aligned(box, caps);
    assert_true(caps->bytes_max == 0 || piece->bytes <= caps->bytes_max);
    assert_true(box->loops <= caps->loops);
    assert_int_equal(piece->bytes, box->run * plan_rows(box));
    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_copy_loop *loop = &box->loop[i];
        const struct mli_loop_caps *own = &caps->loop[box->loops - 1 - i];

        assert_true(own->count_max == 0 || loop->count <= own->count_max);
        assert_true(own->step_max == 0 ||
                    (loop->src_step <= own->step_max && loop->dst_step <= own->step_max));
        assert_true(caps->gap_max == 0 || gap(loop->dst_step, box->run) <= caps->gap_max);
        if (box->src) {
            assert_true(caps->gap_max == 0 || gap(loop->src_step, box->run) <= caps->gap_max);
            assert_true(!(caps->flags & MLI_CHANNEL_DISTINCT_ROWS) || loop->src_step >= box->run);
        }
        assert_true(box->loop[i].count >= 2);
        assert_true(caps->count_max == 0 || box->loop[i].count <= caps->count_max);
        assert_true(caps->step_max == 0 || (box->loop[i].src_step <= caps->step_max &&
                                            box->loop[i].dst_step <= caps->step_max));
    }
}

/*
 * Row number n of the piece must be row number mli_piece_row(n) of its descriptor. If the loops of
 * the piece are the innermost loops of the descriptor, its rows are consecutive.
 */
static void assert_right_rows(const struct mli_descriptor *piece, const struct mli_plan *plan,
                              const struct mli_channel_caps *caps)
{
    const bool consecutive = !(piece->flags & MLI_PIECE_CPU || caps->flags & MLI_CHANNEL_ANY_LOOPS);
    const struct mli_copy_box from = plan_descriptor(plan, piece->index);
    const uint64_t rows = plan_rows(&piece->box);

    for (uint64_t i = 0; i < rows; i++) {
        const uint8_t *src, *row_src;
        uint8_t *dst, *row_dst;

        const uint64_t row = mli_piece_row(plan, piece, i);

        assert_true(!consecutive || row == piece->row + i);
        plan_row(&piece->box, i, &src, &dst);
        plan_row(&from, row, &row_src, &row_dst);
        assert_true(dst >= row_dst && dst + piece->box.run <= row_dst + from.run);
        assert_int_equal(src == NULL, row_src == NULL);
        assert_true(!src || src - row_src == dst - row_dst);
    }
}

static void check_case(const struct mli_plan *plan, const struct mli_channel_caps *caps)
{
    struct mli_piece_counts count = {0, 0, 0}, expected;
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;
    uint32_t index = 0;
    uint64_t row = 0;

    moved_clear(&whole);
    moved_clear(&pieces);
    moved_add_plan(&whole, plan);
    assert_int_equal(whole.bytes, plan->bytes);
    mli_legalise_init(&legaliser, plan, caps);
    while (mli_legalise_next(&legaliser, &piece)) {
        assert_true(piece.index <= plan->slabs);
        assert_right_rows(&piece, plan, caps);
        moved_add_box(&pieces, &piece.box);
        if (piece.flags & MLI_PIECE_CPU) {
            assert_for_processor(&piece, caps);
            count.cpu_pieces++;
            count.cpu_bytes += piece.bytes;
            continue;
        }
        assert_within_limits(&piece, caps);
        assert_int_equal(count.cpu_pieces, 0);
        assert_true(piece.index > index || (piece.index == index && piece.row >= row));
        index = piece.index;
        row = piece.row;
        count.descriptors++;
    }
    assert_false(mli_legalise_next(&legaliser, &piece)); /* after the end, no further pieces come */
    mli_legalise_pieces(plan, caps, &expected);
    assert_int_equal(expected.descriptors, count.descriptors);
    assert_int_equal(expected.cpu_pieces, count.cpu_pieces);
    assert_int_equal(expected.cpu_bytes, count.cpu_bytes);
    assert_int_equal(mli_legalise_count(plan, caps), count.descriptors);
    cpu_bytes += count.cpu_bytes;
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

/* The processor moves the bytes that the device cannot move, and no byte twice. */
static void test_pieces_of_the_processor(void **state)
{
    uint64_t bytes = 0;

    (void)state;
    cpu_bytes = 0;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed + 1, i);
        struct mli_channel_caps caps;
        struct mli_plan plan;

        plan_random(&plan, &rng);
        random_caps(&caps, &rng);
        random_demands(&caps, &rng);
        check_case(&plan, &caps);
        bytes += plan.bytes;
    }
    print_message("the processor moves %" PRIu64 " of %" PRIu64 " bytes\n", cpu_bytes, bytes);
    assert_true(cpu_bytes > bytes / 10 && cpu_bytes < bytes * 9 / 10);
}

/* Rows with a head of 3 bytes, a middle of 56 and a tail of 1. */
static void test_heads_and_tails(void **state)
{
    const struct mli_channel_caps caps = {.loops = 1, .granularity = 8, .dst_align = 8};
    const struct mli_copy_loop loops[] = {{10, 64, 80}};
    struct mli_piece_counts counts;
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 5, 60, 1, loops);
    plan.box.src += (8 + 5 - (uintptr_t)plan.box.src % 8) % 8;
    mli_legalise_pieces(&plan, &caps, &counts);
    assert_int_equal(counts.descriptors, 1);
    assert_int_equal(counts.cpu_pieces, 2);
    assert_int_equal(counts.cpu_bytes, 10 * 4);
    plan.box.src++; /* now no byte is aligned in both source and destination */
    mli_legalise_pieces(&plan, &caps, &counts);
    assert_int_equal(counts.descriptors, 0);
    assert_int_equal(counts.cpu_bytes, 10 * 60);
}

/* A transpose of 64 x 64 bytes is one piece for the processor, not 4096 descriptors or calls. */
static void test_transpose_on_a_linear_controller(void **state)
{
    const struct mli_channel_caps caps = {.loops = 0, .piece_min = 64};
    const struct mli_channel_caps short_pieces = {.loops = 0, .piece_min = 64, .piece_cpu = 1024};
    const struct mli_copy_loop loops[] = {{64, 1, 64}, {64, 64, 1}};
    struct mli_piece_counts counts;
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 0, 1, 2, loops);
    mli_legalise_pieces(&plan, &caps, &counts);
    assert_int_equal(counts.descriptors, 0);
    assert_int_equal(counts.cpu_pieces, 1);
    mli_legalise_pieces(&plan, &short_pieces, &counts);
    assert_int_equal(counts.descriptors, 0);
    assert_int_equal(counts.cpu_pieces, 4);
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

/* A piece has as many innermost loops as the hardware has. A loop is not cut if it fits. */
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
        cmocka_unit_test(test_pieces_of_the_processor),
        cmocka_unit_test(test_heads_and_tails),
        cmocka_unit_test(test_transpose_on_a_linear_controller),
        cmocka_unit_test(test_no_limits),
        cmocka_unit_test(test_inner_loops_are_kept),
        cmocka_unit_test(test_copies_continue),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
