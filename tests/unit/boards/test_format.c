/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the formatted output of images with that of the C library of the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "boards/firmware/lib/libc/format.h"
#include "tests/support/rng.h"

enum { ROOM = 512 };

static char got[ROOM];
static size_t got_count;

static void collect(void *to, const char *bytes, size_t count)
{
    (void)to;
    assert_true(got_count + count < sizeof(got));
    memcpy(got + got_count, bytes, count);
    got_count += count;
    got[got_count] = '\0';
}

static int format(const char *text, ...)
{
    va_list arguments;
    int count;

    got_count = 0;
    got[0] = '\0';
    va_start(arguments, text);
    count = format_text(collect, NULL, text, arguments);
    va_end(arguments);
    return count;
}

/* Compares both results of one call. */
#define assert_formats(...)                                                                        \
    do {                                                                                           \
        char want[ROOM];                                                                           \
        const int count = snprintf(want, sizeof(want), __VA_ARGS__);                               \
                                                                                                   \
        assert_int_equal(format(__VA_ARGS__), count);                                              \
        assert_string_equal(got, want);                                                            \
    } while (0)

static void test_texts(void **state)
{
    (void)state;
    assert_formats("plain");
    assert_formats("%s, %s and 100 %%", "one", "two");
    assert_formats("[%8s|%-8s|%.2s|%.*s|%*s]", "right", "left", "cut", 3, "abcdef", -6, "x");
    assert_formats("%c%c%-3c|", 'a', 'b', 'c');
    assert_formats("%p", (void *)(uintptr_t)0x1234);
}

static void test_lengths(void **state)
{
    (void)state;
    assert_formats("%hhd %hhu %hd %hu", (signed char)-5, (unsigned char)250, (short)-300,
                   (unsigned short)65000);
    assert_formats("%d %u %x %X %o", INT_MIN, UINT_MAX, 0xbeef, 0xBEEF, 0777);
    assert_formats("%ld %lu %lld %llu", LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
    assert_formats("%zu %td %jd", SIZE_MAX, (ptrdiff_t)-7, INTMAX_MIN);
    assert_formats("%" PRIu64 " %" PRIx64 " %" PRId32, UINT64_MAX, UINT64_MAX, INT32_MIN);
}

/* Random flags, widths, precisions, letters and numbers. */
static void test_random_numbers(void **state)
{
    static const char letters[] = "diuxXo";
    struct rng rng = {1};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[32], want[ROOM];
        size_t at = 0;
        const uint64_t number = rng_next(&rng) >> rng_below(&rng, 64);
        int count;

        text[at++] = '%';
        for (const char *flag = "-0+ #"; *flag; flag++) {
            if (rng_chance(&rng, 30))
                text[at++] = *flag;
        }
        if (rng_chance(&rng, 50))
            at += (size_t)sprintf(text + at, "%u", (unsigned)rng_between(&rng, 1, 30));
        if (rng_chance(&rng, 40))
            at += (size_t)sprintf(text + at, ".%u", (unsigned)rng_below(&rng, 30));
        (void)sprintf(text + at, "ll%c", letters[rng_below(&rng, sizeof(letters) - 1)]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        count = snprintf(want, sizeof(want), text, (unsigned long long)number);
        assert_int_equal(format(text, (unsigned long long)number), count);
#pragma GCC diagnostic pop
        if (strcmp(got, want) != 0)
            print_error("\"%s\" of %" PRIu64 "\n", text, number);
        assert_string_equal(got, want);
    }
}

static void test_unknown_conversion(void **state)
{
    (void)state;
    assert_int_equal(format("%f", 1.0), -1);
    assert_int_equal(format("%"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_unknown_conversion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
