/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the search for bytes that strided elements have in common: compares its answers for small
 * random lattices with a search of all points, and tests the answer when the budget is used up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmli/src/overlap.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"

/* Points of a random lattice, so few that the search always ends within its budget. */
enum { CASES = 200000, POINTS_MAX = 200 };

static uint64_t seed = 1;

/* Adds random terms to a lattice. Strides are small, so that many sums and some strides are equal.
 */
static void random_lattice(struct rng *r, struct lattice *lattice, bool from_0)
{
    const uint32_t terms = rng_between(r, 1, 2 * MLI_MAX_RANK);
    const uint32_t strides = rng_chance(r, 50) ? 5 : 40;
    uint32_t points = 1;

    *lattice = (struct lattice){0};
    for (uint32_t i = 0; i < terms; i++) {
        const int64_t lo = from_0 || rng_chance(r, 50) ? 0 : -(int64_t)rng_below(r, 4);
        const int64_t hi = rng_chance(r, 50) && lo < 0 ? 0 : rng_below(r, 4);
        const uint32_t values = (uint32_t)(from_0 ? 2 * hi + 1 : hi - lo + 1);

        if (points * values > POINTS_MAX)
            return;
        points *= values;
        lattice_add(lattice, rng_between(r, 1, strides), lo, hi);
    }
}

/*
 * Returns whether `sum` plus a combination of the terms from number i on is at a distance below
 * `width` from 0.
 */
static bool reaches(const struct lattice *lattice, uint32_t i, int64_t sum, int64_t width)
{
    if (i == lattice->count)
        return llabs(sum) < width;
    for (int64_t x = lattice->term[i].lo; x <= lattice->term[i].hi; x++) {
        if (reaches(lattice, i + 1, sum + x * lattice->term[i].stride, width))
            return true;
    }
    return false;
}

/* Returns whether two different combinations of the terms from number i on have the same sum. */
static bool meets_itself(const struct lattice *lattice, uint32_t i, int64_t sum, bool different)
{
    if (i == lattice->count)
        return sum == 0 && different;
    for (int64_t x = -lattice->term[i].hi; x <= lattice->term[i].hi; x++) {
        if (meets_itself(lattice, i + 1, sum + x * lattice->term[i].stride, different || x != 0))
            return true;
    }
    return false;
}

static void print_case(uint64_t index, const struct lattice *lattice, int64_t target, int64_t width)
{
    print_error("case %" PRIu64 " of MLI_TEST_SEED=%" PRIu64 ": target %" PRId64 ", width %" PRId64
                "\n",
                index, seed, target, width);
    for (uint32_t i = 0; i < lattice->count; i++)
        print_error("  stride %" PRId64 ", %" PRId64 " to %" PRId64 "\n", lattice->term[i].stride,
                    lattice->term[i].lo, lattice->term[i].hi);
}

static void test_reaches_what_a_point_reaches(void **state)
{
    uint64_t reached = 0;

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng r = rng_for_case(seed, i);
        struct lattice lattice, copy;
        int64_t target, width;
        bool expected;

        random_lattice(&r, &lattice, false);
        copy = lattice;
        target = (int64_t)rng_below(&r, 200) - 100;
        width = rng_between(&r, 1, 4);
        expected = reaches(&lattice, 0, -target, width);
        if (lattice_reaches(&copy, target - width + 1, target + width - 1) != expected) {
            print_case(i, &lattice, target, width);
            fail_msg("expected %s", expected ? "a point" : "no point");
        }
        reached += expected;
    }
    assert_in_range(reached, scaled(CASES) / 10, scaled(CASES) * 9 / 10);
}

static void test_meets_itself_as_its_points_do(void **state)
{
    uint64_t met = 0;

    (void)state;
    for (uint64_t i = 0; i < scaled(CASES); i++) {
        struct rng r = rng_for_case(seed, i);
        struct lattice lattice, copy;
        bool expected;

        random_lattice(&r, &lattice, true);
        copy = lattice;
        expected = meets_itself(&lattice, 0, 0, false);
        if (lattice_meets_itself(&copy) != expected) {
            print_case(i, &lattice, 0, 1);
            fail_msg("expected %s", expected ? "a common point" : "no common point");
        }
        met += expected;
    }
    assert_in_range(met, scaled(CASES) / 10, scaled(CASES) * 9 / 10);
}

static void test_terms_are_sorted_and_terms_of_0_left_out(void **state)
{
    static const int64_t falling[] = {7, 5, 4, 3, 1};
    struct lattice lattice = {0};

    (void)state;
    lattice_add(&lattice, 4, 0, 1);
    lattice_add(&lattice, 9, 0, 0);
    lattice_add(&lattice, 7, 0, 1);
    lattice_add(&lattice, 1, -1, 0);
    lattice_add(&lattice, 3, 0, 1);
    lattice_add(&lattice, 5, -2, 0);
    assert_int_equal(lattice.count, COUNT_OF(falling));
    for (uint32_t i = 0; i < lattice.count; i++)
        assert_int_equal(lattice.term[i].stride, falling[i]);
    assert_int_equal(lattice.term[1].lo, -2);
    assert_int_equal(lattice.term[1].hi, 0);
}

/* Eight terms, the largest number: the sums of these powers of two are 0 to 255. */
static void test_eight_different_strides(void **state)
{
    (void)state;
    for (int64_t target = -3; target < 260; target++) {
        struct lattice lattice = {0};

        for (int i = 0; i < 2 * MLI_MAX_RANK; i++)
            lattice_add(&lattice, UINT64_C(1) << i, 0, 1);
        assert_int_equal(lattice_reaches(&lattice, target, target), target >= 0 && target < 256);
    }
}

/*
 * All sums are even, so none is 1. The search cannot know this, and visits more points than its
 * budget allows.
 */
static void test_the_end_of_the_budget_means_overlap(void **state)
{
    struct lattice lattice = {0};

    (void)state;
    for (uint64_t stride = 2002; stride < 2016; stride += 2)
        lattice_add(&lattice, stride, -10, 10);
    assert_true(lattice_reaches(&lattice, 1, 1));
}

/*
 * The lattice has 15^8 points. Its eight terms have equal strides and are searched as one term, so
 * the search can decide.
 */
static void test_terms_of_equal_stride_cost_no_budget(void **state)
{
    struct lattice lattice = {0};

    (void)state;
    for (int i = 0; i < 2 * MLI_MAX_RANK; i++)
        lattice_add(&lattice, 2, -7, 7);
    assert_false(lattice_reaches(&lattice, 1, 1));
}

/* Only one of 200 001 values of the first term can be part of a solution: the budget suffices. */
static void test_values_that_are_too_far_cost_no_budget(void **state)
{
    (void)state;
    for (int64_t target = -100 * 1000 * 1000 + 501; target < 100 * 1000 * 1000;
         target += 49999000) {
        struct lattice lattice = {0};

        lattice_add(&lattice, 1000, -100 * 1000, 100 * 1000);
        lattice_add(&lattice, 2, 0, 3);
        assert_false(lattice_reaches(&lattice, target, target));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_what_a_point_reaches),
        cmocka_unit_test(test_meets_itself_as_its_points_do),
        cmocka_unit_test(test_terms_are_sorted_and_terms_of_0_left_out),
        cmocka_unit_test(test_eight_different_strides),
        cmocka_unit_test(test_the_end_of_the_budget_means_overlap),
        cmocka_unit_test(test_terms_of_equal_stride_cost_no_budget),
        cmocka_unit_test(test_values_that_are_too_far_cost_no_budget),
    };
    const char *text = getenv("MLI_TEST_SEED");

    if (text)
        seed = strtoull(text, NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
