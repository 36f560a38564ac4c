/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests what the engine vfio does without a device: refusals, and the allocation of bus addresses,
 * compared with a model that marks pages. scripts/test-vfio tests the engine with a device.
 */
#include "tests/support/unit.h"

#include <string.h>

#include "libmli/port/ports.h"
#include "libmli/port/vfio/iova_space.h"
#include "mli_api.h"
#include "mli_engine.h"
#include "tests/support/rng.h"

enum { PAGE = 4096, BITS = 20, PAGES = 1 << (BITS - 12), RANGES = 40, ROUNDS = 20000 };

static void test_pages_around(void **state)
{
    struct iova_space space;
    struct iova_range *range;

    (void)state;
    iova_space_init(&space, PAGE, BITS);
    iova_space_allow(&space, 0, UINT64_MAX);
    range = iova_space_add(&space, 0x10000fff, 2, true);
    assert_non_null(range);
    assert_int_equal(range->address, 0x10000000);
    assert_int_equal(range->size, 2 * PAGE);
    assert_int_equal(range->iova, PAGE); /* 0 is not a bus address */
    assert_ptr_equal(iova_space_find(&space, 0x10000fff, 2, true), range);
    assert_ptr_equal(iova_space_find(&space, 0x10000000, 2 * PAGE, false), range);
    assert_null(iova_space_find(&space, 0x10000000, 2 * PAGE + 1, false));
    assert_null(iova_space_find(&space, 0x0fffffff, 2, false));
    assert_null(iova_space_find(&space, 0x10002000, 1, false));
    iova_space_finish(&space);
}

static void test_only_readable(void **state)
{
    struct iova_space space;
    struct iova_range *range;

    (void)state;
    iova_space_init(&space, PAGE, BITS);
    iova_space_allow(&space, 0, UINT64_MAX);
    range = iova_space_add(&space, 0x10000, PAGE, false);
    assert_ptr_equal(iova_space_find(&space, 0x10000, PAGE, false), range);
    assert_null(iova_space_find(&space, 0x10000, PAGE, true));
    iova_space_finish(&space);
}

static void test_nothing_fits(void **state)
{
    struct iova_space space;

    (void)state;
    iova_space_init(&space, PAGE, BITS);
    assert_null(iova_space_add(&space, 0x10000, 1, true)); /* no window */
    iova_space_allow(&space, 0x1001, 0x2ffe);              /* a range that contains no whole page */
    assert_int_equal(space.count, 0);
    iova_space_allow(&space, 0, UINT64_MAX);
    assert_null(iova_space_add(&space, 0x10000, 0, true));
    assert_null(
        iova_space_add(&space, 0x10000, (size_t)PAGES * PAGE, true)); /* page 0 is missing */
    assert_null(iova_space_add(&space, UINTPTR_MAX - 10, 10, true));
    assert_null(iova_space_add(&space, 0x10000, SIZE_MAX, true));
    assert_non_null(iova_space_add(&space, 0x10000, (size_t)(PAGES - 1) * PAGE, true));
    assert_null(iova_space_add(&space, 0x10000, 1, true));
    iova_space_finish(&space);
}

/* Returns whether a page of bus addresses is in one of the windows of test_random(). */
static bool is_allowed(size_t page)
{
    return (page >= 1 && page < 64) || (page >= 100 && page < PAGES);
}

/* Returns the length of the longest run of pages that are allowed and free. */
static size_t longest_run(const bool *used)
{
    size_t longest = 0, run = 0;

    for (size_t page = 0; page < PAGES; page++) {
        run = is_allowed(page) && !used[page] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void mark(bool *used, const struct iova_range *range, bool value)
{
    for (uint64_t at = range->iova; at < range->iova + range->size; at += PAGE) {
        assert_true(is_allowed(at / PAGE));
        assert_int_equal(used[at / PAGE], !value);
        used[at / PAGE] = value;
    }
}

static void test_random(void **state)
{
    struct iova_range *ranges[RANGES] = {NULL};
    bool used[PAGES] = {false};
    struct iova_space space;
    struct rng rng = rng_for_case(1, 1);

    (void)state;
    iova_space_init(&space, PAGE, BITS);
    iova_space_allow(&space, 0, 64 * PAGE - 1);
    iova_space_allow(&space, 100 * PAGE, UINT64_MAX);
    for (int i = 0; i < ROUNDS; i++) {
        struct iova_range **at = &ranges[rng_below(&rng, RANGES)];
        const size_t pages = rng_between(&rng, 1, 30);

        if (*at) {
            mark(used, *at, false);
            iova_space_remove(&space, *at);
            *at = NULL;
            continue;
        }
        *at = iova_space_add(&space, (uintptr_t)rng_between(&rng, 1, 1000) * PAGE, pages * PAGE,
                             true);
        assert_int_equal(*at != NULL, longest_run(used) >= pages);
        if (*at)
            mark(used, *at, true);
    }
    iova_space_finish(&space);
}

/* A specification, and a part of the message. */
static const struct {
    const char *spec, *says;
} refused[] = {
    {"vfio", "option device is required"},
    {"fault:vfio,seed=1", "option device is required"},
    {"vfio:device=ffff:ff:1f.7", "no PCI device ffff:ff:1f.7"},
    {"fault:vfio,seed=1,device=ffff:ff:1f.7", "no PCI device ffff:ff:1f.7"},
    {"vfio:device=4", "no such option, or the value"},
    {"vfio:device=ffff:ff:1f.7:", "no such option, or the value"},
    {"vfio:device=../../../../xx", "no such option, or the value"},
    {"vfio:device=FFFF:ff:1f.7", "no such option, or the value"},
    {"vfio:Device=ffff:ff:1f.7", "no such option, or the value"},
    {"vfio:device=", "key=number"},
    {"vfio:timeout_ms=0", "no such option, or the value"},
    {"vfio:timeout_ms=x", "no such option, or the value"},
    {"vfio:timeout_ms=600001", "no such option, or the value"},
    {"vfio:timeout_ms=1", "option device is required"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        const mli_status got = mli_mov_set_engine(refused[i].spec);

        assert_status(got, MLI_STATUS_ARGUMENT_ERROR);
        assert_error_names(refused[i].says, got);
        assert_string_equal(mli_mov_engine_name(), "threads");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_pages_around),
        cmocka_unit_test(test_only_readable), cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_random),
    };

    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
