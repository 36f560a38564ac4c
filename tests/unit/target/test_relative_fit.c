/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that fits to synthetic measurements, with noise and outliers, find the known figures. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "target/fit/fit.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { SAMPLES = 2000, UNKNOWNS = 5 };

static double factors[SAMPLES * UNKNOWNS], values[SAMPLES];
static const double known[UNKNOWNS] = {120, 3.5, 0, 0.25, 41};

/*
 * Makes measurements with `noise` percent of noise. One in `outliers` measurements takes up to 10
 * times as long.
 */
static void make_samples(struct rng *rng, uint32_t noise, uint32_t outliers)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        double *factor = factors + i * UNKNOWNS;

        factor[0] = 1;
        for (size_t k = 1; k < UNKNOWNS; k++)
            factor[k] = (double)rng_below(rng, UINT32_C(1) << rng_below(rng, 12));
        values[i] = 0;
        for (size_t k = 0; k < UNKNOWNS; k++)
            values[i] += factor[k] * known[k];
        values[i] *= 1 + (double)rng_below(rng, 2000 * noise + 1) / 100000 - (double)noise / 100;
        if (outliers > 0 && rng_below(rng, outliers) == 0)
            values[i] *= 2 + rng_below(rng, 8);
    }
}

static void expect_known(double tolerance, uint64_t seed)
{
    double unknown[UNKNOWNS];

    relative_fit(&(struct relative_fit){UNKNOWNS, SAMPLES, factors, values}, unknown);
    for (size_t i = 0; i < UNKNOWNS; i++)
        if (fabs(unknown[i] - known[i]) > tolerance * (known[i] > 0 ? known[i] : 1))
            fail_msg("seed %llu: unknown %zu: %g expected, %g found", (unsigned long long)seed, i,
                     known[i], unknown[i]);
}

static void test_known_figures(void **state)
{
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = rng_for_case(seed, 0);

    (void)state;
    make_samples(&rng, 0, 0);
    expect_known(0.001, seed);
    make_samples(&rng, 5, 0);
    expect_known(0.05, seed);
}

static void test_outliers_do_not_count(void **state)
{
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = rng_for_case(seed, 1);

    (void)state;
    make_samples(&rng, 2, 20);
    expect_known(0.05, seed);
}

static void test_no_figure_is_negative(void **state)
{
    const double factor[] = {1, 1, 1, 2, 1, 3}, value[] = {10, 9, 8};
    double unknown[2];

    (void)state;
    relative_fit(&(struct relative_fit){2, 3, factor, value}, unknown);
    assert_true(unknown[0] > 8 && unknown[0] < 10);
    assert_true(unknown[1] == 0);
}

/* If a factor is tiny in all samples, noise must not give its figure a huge value. */
static void test_figures_are_bounded(void **state)
{
    const double factor[] = {1, 1e-6, 1, 2e-6, 1, 3e-6}, value[] = {100, 101, 102};
    double unknown[2];

    (void)state;
    relative_fit(&(struct relative_fit){2, 3, factor, value}, unknown);
    assert_true(unknown[1] <= 1.2 * 102 / 3e-6);
    assert_true(isfinite(unknown[0]));
}

static void test_nothing_to_fit(void **state)
{
    const double factor[] = {0, 1, 0, 1}, value[] = {4, 4};
    double unknown[2] = {7, 7};

    (void)state;
    relative_fit(&(struct relative_fit){2, 2, factor, value}, unknown);
    assert_true(unknown[0] == 0);
    assert_true(fabs(unknown[1] - 4) < 1e-3);
    relative_fit(&(struct relative_fit){2, 0, factor, value}, unknown);
    assert_true(unknown[0] == 0 && unknown[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_figures),         cmocka_unit_test(test_outliers_do_not_count),
        cmocka_unit_test(test_no_figure_is_negative), cmocka_unit_test(test_figures_are_bounded),
        cmocka_unit_test(test_nothing_to_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
