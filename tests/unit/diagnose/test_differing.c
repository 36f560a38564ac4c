/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of differing elements: region, planes, first elements, largest difference, sample. */
#include <math.h>
#include <string.h>

#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/diagnose/planted.h"

enum { ROUNDS = 100 };

static struct tensor a, b;
static struct differing differing;

static void set_float(struct tensor *tensor, uint32_t index, float value)
{
    uint32_t word;

    memcpy(&word, &value, sizeof(word));
    tensor_set(tensor, (const uint32_t[]){index, 0, 0, 0}, word);
}

static void make_zeros(const char *dtype, uint32_t rank, const uint32_t *shape)
{
    tensor_init(&a, dtype_from_name(dtype), rank, shape);
    tensor_init(&b, dtype_from_name(dtype), rank, shape);
}

static void test_planes(void **state)
{
    char text[DIFFERING_TEXT_MAX];

    (void)state;
    make_zeros("int8", 4, (const uint32_t[]){2, 4, 2, 3});
    for (uint32_t c = 0; c < 3; c++)
        tensor_set(&a, (const uint32_t[]){0, c, 1, 2}, 5);
    tensor_set(&a, (const uint32_t[]){1, 3, 0, 0}, 0x80);
    tensor_set(&a, (const uint32_t[]){1, 3, 0, 1}, 1);
    assert_true(planted_compare(&a, &b, &differing));
    assert_string_equal(differing_planes(&differing, text),
                        "4 of 8 planes differ: [0, 0:3, :, :] 1 each, [1, 3, :, :] 2");
    assert_string_equal(differing_summary(&differing, 48, text),
                        "10.4 % of the elements, in [0:2, 0:4, 0:2, 0:3]; the largest difference "
                        "is 128 at [1, 3, 0, 0]");
    assert_int_equal(differing.first_count, 5);
    assert_string_equal(differing.first[3].a, "-128");
}

static void test_many_planes_are_cut(void **state)
{
    char text[DIFFERING_TEXT_MAX];

    (void)state;
    make_zeros("int8", 3, (const uint32_t[]){40, 2, 2});
    for (uint32_t i = 0; i < 40; i += 2)
        tensor_set(&a, (const uint32_t[]){i, 0, 0, 0}, 1);
    assert_true(planted_compare(&a, &b, &differing));
    assert_int_equal(differing.planes_differ, 20);
    assert_int_equal(differing.run_count, DIFFERING_RUNS_MAX);
    assert_non_null(strstr(differing_planes(&differing, text), "[14, :, :] 1, ..."));
}

static void test_floats(void **state)
{
    char text[DIFFERING_TEXT_MAX];

    (void)state;
    make_zeros("float32", 1, (const uint32_t[]){5});
    set_float(&a, 0, NAN);
    set_float(&a, 1, 1.0f);
    set_float(&b, 1, nextafterf(1.0f, 2.0f));
    set_float(&a, 2, -0.0f);
    assert_true(planted_compare(&a, &b, &differing));
    assert_int_equal(differing.count, 3);
    assert_int_equal(differing.ulps, 1);
    assert_non_null(strstr(differing_summary(&differing, 5, text),
                           "the largest difference is 1.19209e-07 at [1] (1 ulp, 1.19e-07 of the "
                           "value)"));
    set_float(&a, 3, INFINITY);
    assert_true(planted_compare(&a, &b, &differing));
    assert_non_null(strstr(differing_summary(&differing, 5, text), "difference is inf at [3]"));
}

static void test_extreme_integers(void **state)
{
    (void)state;
    make_zeros("int32", 1, (const uint32_t[]){2});
    tensor_set(&a, (const uint32_t[]){1, 0, 0, 0}, 0x80000000u);
    tensor_set(&b, (const uint32_t[]){1, 0, 0, 0}, 0x7fffffffu);
    assert_true(planted_compare(&a, &b, &differing));
    assert_true(differing.largest == 4294967295.0);
    make_zeros("bool", 1, (const uint32_t[]){2});
    tensor_set(&a, (const uint32_t[]){1, 0, 0, 0}, 1);
    assert_true(planted_compare(&a, &b, &differing));
    assert_false(differing.has_largest);
}

/* Counts of random tensors against counts by hand. */
static void test_random(void **state)
{
    const uint64_t seed = planted_seed();

    (void)state;
    for (uint64_t round = 0; round < scaled(ROUNDS); round++) {
        struct rng rng = rng_for_case(seed, round);
        uint32_t shape[MLI_MAX_RANK];
        const uint32_t rank = rng_between(&rng, 1, 4), percent = rng_between(&rng, 1, 100);
        uint64_t count = 0, of_runs = 0;

        planted_shape(&rng, rank, 1, 8, shape);
        make_zeros("int16", rank, shape);
        for (uint64_t i = 0; i < elements_count(&a.elements); i++) {
            uint32_t at[MLI_MAX_RANK];

            elements_place(&a.elements, i, at);
            if (!rng_chance(&rng, percent))
                continue;
            tensor_set(&a, at, rng_between(&rng, 1, 60000));
            count++;
        }
        assert_int_equal(planted_compare(&a, &b, &differing), count > 0);
        assert_int_equal(differing.count, count);
        for (uint32_t i = 0; i < differing.run_count; i++)
            of_runs += differing.runs[i].planes * differing.runs[i].each;
        if (!differing.runs_cut && differing.leading > 0)
            assert_int_equal(of_runs, count);
        assert_int_equal(differing.first_count, count < 10 ? count : 10);
        assert_int_equal(differing.sample_count,
                         count < DIFFERING_SAMPLE_MAX ? count : DIFFERING_SAMPLE_MAX);
        for (uint32_t i = 0; i < differing.sample_count; i++) {
            uint32_t at[MLI_MAX_RANK];

            elements_place(&a.elements, differing.sample[i], at);
            assert_int_not_equal(tensor_get(&a, at), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes), cmocka_unit_test(test_many_planes_are_cut),
        cmocka_unit_test(test_floats), cmocka_unit_test(test_extreme_integers),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests_name("differing", tests, NULL, NULL);
}
