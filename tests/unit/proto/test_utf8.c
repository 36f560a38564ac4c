/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/utf8.h"

#include <string.h>

#include "tests/support/proto_unit.h"

static void test_good(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xe0\xa0\x80", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t size = cases[i].size;

        assert_int_equal(utf8_char(cases[i].text, size), size);
        assert_int_equal(utf8_char(cases[i].text, size - 1), 0);
    }
}

static void test_bad(void **state)
{
    static const char *const cases[] = {
        "\x80",             /* a continuation byte alone */
        "\xbf",             /* a continuation byte alone */
        "\xc0\x80",         /* an overlong form of NUL */
        "\xc1\xbf",         /* an overlong form */
        "\xe0\x9f\xbf",     /* an overlong form */
        "\xf0\x8f\xbf\xbf", /* an overlong form */
        "\xed\xa0\x80",     /* a surrogate */
        "\xed\xbf\xbf",     /* a surrogate */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf5\x80\x80\x80", /* beyond U+10FFFF */
        "\xfe",
        "\xff",
        "\xc2\x41",     /* the continuation byte is missing */
        "\xe1\x80\x41", /* the continuation byte is missing */
        "\xf1\x80\x80\xc0",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(utf8_char(cases[i], strlen(cases[i])), 0);
}

static void test_cut(void **state)
{
    /* characters of 1, 2, 3 and 4 bytes */
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80";
    static const size_t cuts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cuts); i++)
        assert_int_equal(utf8_cut(text, i), cuts[i]);
    assert_int_equal(utf8_cut("\x80", 1), 1); /* a text that is not valid UTF-8 is not cut */
    assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80", 6), 6);
}

static void test_valid(void **state)
{
    (void)state;
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\0\xc3\xa9", 4));
    assert_false(utf8_is_valid("a\xc3\xa9", 2));
    assert_false(utf8_is_valid("\xe9t\xe9", 3));
}

static void test_every_character(void **state)
{
    (void)state;
    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        char bytes[UTF8_CHAR_MAX];
        size_t size = utf8_encode(code, bytes);
        int surrogate = code >= 0xd800 && code <= 0xdfff;

        assert_int_equal(utf8_char(bytes, size), surrogate ? 0 : size);
        assert_int_equal(utf8_decode(bytes, size), code);
    }
}

/* A terminal must show a text in the order of its characters, and on one line. */
static void test_disarm(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"a\nb\x1b[1m\x7f", "a?b?[1m?"},
        {"\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0"}, /* U+0080, U+009F, U+00A0 */
        {"a\xe2\x80\xae"
         "gpj.exe",
         "a???gpj.exe"},                                                /* U+202E */
        {"\xe2\x80\x8f\xe2\x80\x90\xd8\x9c", "???\xe2\x80\x90??"},      /* U+200F, U+2010, U+061C */
        {"\xe2\x81\x9f\xe2\x81\xa6\xe2\x81\xa9", "\xe2\x81\x9f??????"}, /* U+205F, U+2066, U+2069 */
        {"\xef\xbb\xbf\xe2\x80\x8b\xc2\xad", "????????"},               /* U+FEFF, U+200B, U+00AD */
        {"\xf3\xa0\x81\x81\xf3\xa0\x84\x80", "????\xf3\xa0\x84\x80"},   /* U+E0041, U+E0100 */
        {"\xff\xc3", "??"},
        {"\xc3\xbc\xe2\x82\xac", "\xc3\xbc\xe2\x82\xac"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];

        strcpy(text, cases[i].text);
        utf8_disarm(text);
        assert_string_equal(text, cases[i].shown);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),   cmocka_unit_test(test_bad),
        cmocka_unit_test(test_cut),    cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_disarm), cmocka_unit_test(test_valid),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
