/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The macros of cmocka that unit tests need, for images. The first assertion that fails ends the
 * program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state);
    int (*teardown_func)(void **state);
};

#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
#test, test, NULL, NULL                                                                    \
    }
#define cmocka_unit_test_setup(test, setup)                                                        \
    {                                                                                              \
#test, test, setup, NULL                                                                   \
    }

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    unit_run_tests(tests, sizeof(tests) / sizeof(*(tests)))

/* Runs the tests and prints their number. Returns 0. */
int unit_run_tests(const struct CMUnitTest *tests, size_t count);

/* Reports the failure and ends the program. */
_Noreturn void _fail(const char *file, int line);
_Noreturn void unit_fail(const char *what, uintmax_t got, uintmax_t want, const char *file,
                         int line);

/* Counts the current test as skipped. Does not end the test, so it must be the last statement. */
void unit_skip(void);

#define print_error printf
#define skip()      unit_skip()

#define unit_expect(true_value, what, got, want)                                                   \
    ((true_value) ? (void)0                                                                        \
                  : unit_fail(what, (uintmax_t)(got), (uintmax_t)(want), __FILE__, __LINE__))

#define assert_true(value)  unit_expect(value, #value, 0, 1)
#define assert_false(value) unit_expect(!(value), #value, 1, 0)
#define assert_int_equal(got, want)                                                                \
    unit_expect((uintmax_t)(got) == (uintmax_t)(want), #got, got, want)
#define assert_memory_equal(got, want, bytes)                                                      \
    unit_expect(memcmp(got, want, bytes) == 0, "bytes of " #got, 0, 0)
