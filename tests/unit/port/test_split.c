/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests split_plan() with random plans in 1 to 16 parts. Together, the parts must move each byte of
 * the plan exactly once; their sizes must be about equal if that is possible. `test_split SEED`
 * repeats a run.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmli/src/dma/dma.h"
#include "tests/unit/port/plans.h"

enum { CASES = 1500, PARTS_MAX = 16, LINE = 64 };

static uint64_t seed;
static struct moved whole, together;
static struct mli_plan storage[PARTS_MAX];

static size_t split(const struct mli_plan *plan, size_t parts)
{
    struct mli_plan *out[PARTS_MAX];

    for (size_t i = 0; i < parts; i++) {
        memset(&storage[i], 0xEE, sizeof(storage[i]));
        out[i] = &storage[i];
    }
    return split_plan(plan, parts, out);
}

static void assert_loops_legal(const struct mli_copy_box *box)
{
    for (size_t i = 0; i < box->loops; i++) {
        assert_true(box->loop[i].count >= 2);
        assert_true(i == 0 || box->loop[i - 1].dst_step >= box->loop[i].dst_step);
    }
}

static void assert_part_legal(const struct mli_plan *part)
{
    size_t bytes = 0;

    assert_true(part->slabs <= MLI_PLAN_SLABS_MAX);
    for (uint32_t i = 0; i <= part->slabs; i++) {
        const struct mli_copy_box box = plan_descriptor(part, i);

        assert_true(i == 0 || box.run > 0);
        assert_loops_legal(&box);
        bytes += box.run > 0 ? box.run * (size_t)plan_rows(&box) : 0;
    }
    assert_true(bytes > 0);
    assert_int_equal(part->bytes, bytes);
}

static void check_case(const struct mli_plan *plan, size_t parts)
{
    const size_t count = split(plan, parts);

    assert_true(count >= 1 && count <= parts);
    moved_clear(&whole);
    moved_clear(&together);
    moved_add_plan(&whole, plan);
    for (size_t i = 0; i < count; i++) {
        assert_part_legal(&storage[i]);
        moved_add_plan(&together, &storage[i]);
    }
    if (moved_same(&whole, &together))
        return;
    printf("into %zu parts:\n", parts);
    plan_print(plan);
    fail();
}

static void test_random_plans(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng rng = rng_for_case(seed, i);
        struct mli_plan plan;

        plan_random(&plan, &rng);
        check_case(&plan, rng_between(&rng, 1, PARTS_MAX));
    }
}

static void test_one_part_is_the_plan(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        struct rng rng = rng_for_case(seed, i);
        struct mli_plan plan;

        plan_random(&plan, &rng);
        assert_int_equal(split(&plan, 1), 1);
        assert_int_equal(storage[0].slabs, plan.slabs);
        assert_int_equal(storage[0].bytes, plan.bytes);
    }
}

static size_t largest(size_t count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = storage[i].bytes > most ? storage[i].bytes : most;
    return most;
}

/* A contiguous copy is cut only at cache lines, and parts differ by at most a line. */
static void test_contiguous(void **state)
{
    struct rng rng = rng_for_case(seed, 0);

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        const size_t bytes = rng_between(&rng, 1, 60000), parts = rng_between(&rng, 1, PARTS_MAX);
        struct mli_plan plan;
        size_t count;

        plan_one_box(&plan, rng_below(&rng, LINE), bytes, 0, NULL);
        count = split(&plan, parts);
        assert_true(largest(count) < bytes / parts + (size_t)2 * LINE);
        for (size_t k = 1; k < count; k++)
            assert_int_equal((uintptr_t)storage[k].box.dst % LINE, 0);
    }
}

/* If there are enough rows, of any length, the parts differ by at most one row, or by 1/16. */
static void test_rows_are_even(void **state)
{
    struct rng rng = rng_for_case(seed, 1);

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        const size_t parts = rng_between(&rng, 1, PARTS_MAX), run = rng_between(&rng, 1, 150);
        const struct mli_copy_loop loop = {rng_between(&rng, (uint32_t)parts, 3000), run + 3,
                                           run + LINE + rng_below(&rng, 50)};
        const size_t share = run * loop.count / parts;
        struct mli_plan plan;

        plan_one_box(&plan, rng_below(&rng, LINE), run, 1, &loop);
        assert_true(largest(split(&plan, parts)) <= share + share / 16 + run);
    }
}

/* With few outer iterations, the cut is in an inner loop or in the run. */
static void test_inner_loops_balance_parts(void **state)
{
    const struct mli_copy_loop loops[] = {{3, 100000, 100000}, {256, 200, 200}};
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 0, 100, 2, loops);
    for (size_t parts = 1; parts <= PARTS_MAX; parts++) {
        const size_t count = split(&plan, parts), share = plan.bytes / parts;

        assert_int_equal(count, parts);
        assert_true(largest(count) <= share + share / 15);
    }
    plan_one_box(&plan, 0, 64 * 1024, 1, loops);
    for (size_t parts = 1; parts <= PARTS_MAX; parts++) {
        const size_t count = split(&plan, parts), share = plan.bytes / parts;

        assert_int_equal(count, parts);
        assert_true(largest(count) <= share + share / 15);
    }
}

/* If rows are shorter than a cache line, rows that begin in one line belong to one part. */
static void test_short_rows_are_cut_between_lines(void **state)
{
    struct rng rng = rng_for_case(seed, 2);
    static uint8_t owner[PLAN_DST_BYTES / LINE + 2];

    (void)state;
    for (int i = 0; i < 300; i++) {
        const size_t run = rng_between(&rng, 1, 40);
        const struct mli_copy_loop loop = {rng_between(&rng, 2, 4000), 80,
                                           rng_between(&rng, (uint32_t)run + 1, LINE - 1)};
        struct mli_plan plan;
        size_t count;

        plan_one_box(&plan, rng_below(&rng, LINE), run, 1, &loop);
        count = split(&plan, rng_between(&rng, 2, PARTS_MAX));
        memset(owner, 0, sizeof(owner));
        for (size_t k = 0; k < count; k++) {
            for (uint64_t row = 0; row < plan_rows(&storage[k].box); row++) {
                const uint8_t *src;
                uint8_t *dst;
                size_t line;

                plan_row(&storage[k].box, row, &src, &dst);
                line = (uintptr_t)dst / LINE - (uintptr_t)plan_dst / LINE;
                assert_true(owner[line] == 0 || owner[line] == k + 1);
                owner[line] = (uint8_t)(k + 1);
            }
        }
    }
}

/*
 * Each narrow margin around a plane goes to one part as a whole, and does not count for the
 * balance.
 */
static void test_margins(void **state)
{
    const struct mli_copy_loop rows = {200, 300, 302};
    struct mli_plan plan;

    (void)state;
    plan_one_box(&plan, 303, 300, 1, &rows);
    plan.slabs = 4;
    plan.slab[0] = (struct mli_fill_slab){.dst = plan.box.dst - 303, .run = 302};
    plan.slab[1] = (struct mli_fill_slab){.dst = plan.box.dst + 200 * 302 - 1, .run = 302};
    plan.slab[2] =
        (struct mli_fill_slab){.dst = plan.box.dst - 1, .run = 1, .loops = 1, .loop = {{200, 302}}};
    plan.slab[3] = (struct mli_fill_slab){
        .dst = plan.box.dst + 300, .run = 1, .loops = 1, .loop = {{200, 302}}};
    plan.bytes += 2 * 302 + 2 * 200;
    for (size_t parts = 1; parts <= PARTS_MAX; parts++) {
        const size_t share = plan.bytes / parts;

        check_case(&plan, parts);
        assert_true(largest(split(&plan, parts)) <= share + share / 8);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_plans),
        cmocka_unit_test(test_one_part_is_the_plan),
        cmocka_unit_test(test_contiguous),
        cmocka_unit_test(test_rows_are_even),
        cmocka_unit_test(test_inner_loops_balance_parts),
        cmocka_unit_test(test_short_rows_are_cut_between_lines),
        cmocka_unit_test(test_margins),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
