/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding jobs by number and by name. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

static struct registry registry;

static int setup(void **state)
{
    (void)state;
    registry_init(&registry);
    return 0;
}

static void test_numbers(void **state)
{
    enum { COUNT = 5 * REGISTRY_BUCKETS };
    struct entry *entries = calloc(COUNT, sizeof *entries);

    (void)state;
    assert_non_null(entries);
    for (int i = 0; i < COUNT; i++) {
        entries[i].number = (uint64_t)i + 1;
        registry_add(&registry, &entries[i]);
    }
    for (int i = 0; i < COUNT; i += 3)
        registry_remove(&registry, &entries[i]);
    for (int i = 0; i < COUNT; i++)
        assert_ptr_equal(registry_find(&registry, (uint64_t)i + 1), i % 3 ? &entries[i] : NULL);
    assert_null(registry_find(&registry, 0));
    assert_null(registry_find(&registry, UINT64_MAX));
    registry_remove(&registry, &entries[0]); /* not there any more */
    free(entries);
}

static void test_names(void **state)
{
    struct entry a = {.number = 1, .client = 1, .name = "a"};
    struct entry later = {.number = 7, .client = 1, .name = "a"};
    struct entry others = {.number = 8, .client = 2, .name = "a"};
    struct entry nameless = {.number = 9, .client = 1};

    (void)state;
    registry_add(&registry, &later);
    registry_add(&registry, &a);
    registry_add(&registry, &others);
    registry_add(&registry, &nameless);
    assert_ptr_equal(registry_find_name(&registry, 1, "a"), &later); /* whatever came in last */
    assert_ptr_equal(registry_find_name(&registry, 2, "a"), &others);
    assert_null(registry_find_name(&registry, 3, "a"));
    assert_null(registry_find_name(&registry, 1, "b"));
    assert_null(registry_find_name(&registry, 1, ""));
    registry_remove(&registry, &later);
    assert_ptr_equal(registry_find_name(&registry, 1, "a"), &a);
    registry_remove(&registry, &nameless);
    assert_null(registry_find(&registry, 9));
}

static void test_many_of_one_name(void **state)
{
    static struct entry entries[300];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(entries); i++) {
        entries[i] = (struct entry){.number = i + 1, .client = 5, .name = "tile"};
        registry_add(&registry, &entries[i]);
    }
    for (size_t i = COUNT_OF(entries); i-- > 0;) {
        assert_ptr_equal(registry_find_name(&registry, 5, "tile"), &entries[i]);
        registry_remove(&registry, &entries[i]);
    }
    assert_null(registry_find_name(&registry, 5, "tile"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_numbers, setup),
        cmocka_unit_test_setup(test_names, setup),
        cmocka_unit_test_setup(test_many_of_one_name, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
