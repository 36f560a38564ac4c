/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "daemon/base/numbered.h"
#include "daemon/base/seam.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

static void test_numbers_are_not_reused(void **state)
{
    struct numbered numbered = {0};
    int a, b, c;

    (void)state;
    assert_null(numbered_find(&numbered, 1));
    assert_int_equal(numbered_add(&numbered, &a), 1);
    assert_int_equal(numbered_add(&numbered, &b), 2);
    assert_ptr_equal(numbered_remove(&numbered, 2), &b);
    assert_null(numbered_remove(&numbered, 2));
    assert_int_equal(numbered_add(&numbered, &c), 3);
    assert_ptr_equal(numbered_find(&numbered, 1), &a);
    assert_null(numbered_find(&numbered, 2));
    assert_ptr_equal(numbered_find(&numbered, 3), &c);
    assert_null(numbered_find(&numbered, 0));
    assert_null(numbered_find(&numbered, UINT32_MAX));
    numbered.last = UINT32_MAX;
    assert_int_equal(numbered_add(&numbered, &a), 0);
    numbered_finish(&numbered);
}

static void *no_memory(void *block, size_t size)
{
    (void)block, (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    const struct seam real = seam;
    struct numbered numbered = {0};
    int a;

    (void)state;
    seam.realloc = no_memory;
    assert_int_equal(numbered_add(&numbered, &a), 0);
    seam = real;
    assert_int_equal(numbered_add(&numbered, &a), 1);
    numbered_finish(&numbered);
}

/* Compares the table with an array that is indexed by number. */
static void test_compare_with_array(void **state)
{
    enum { STEPS = 2000 };
    static int things[STEPS + 1];
    static void *plain[STEPS + 1];
    const uint64_t seed = 20261121;
    struct numbered numbered = {0};
    struct rng rng;
    uint32_t last = 0;

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    rng = rng_for_case(seed, 0);
    for (int i = 0; i < STEPS; i++) {
        const uint32_t any = (uint32_t)rng_below(&rng, last + 2);

        if (rng_below(&rng, 5) < 3) {
            last++;
            assert_int_equal(numbered_add(&numbered, &things[last]), last);
            plain[last] = &things[last];
        } else if (any <= last) {
            assert_ptr_equal(numbered_remove(&numbered, any), plain[any]);
            plain[any] = NULL;
        }
        assert_ptr_equal(numbered_find(&numbered, any), any <= last ? plain[any] : NULL);
    }
    numbered_finish(&numbered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_not_reused),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_compare_with_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
