/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/proto_unit.h"

static const struct json_limits limits = {.bytes = 1 << 20, .depth = 8, .values = 100};

static void test_good(void **state)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "-1",
        "9007199254740991",
        "-9007199254740991",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        " \t\r\n[ ] \n",
        "{\"a\":1,\"b\":[1,2,{\"c\":null}]}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uD83D\\uDE00\"",
        "\"\\ud83d\\ude00\\ud83d\\ude00\"",
        "\"\x7f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
        "\"\\uffff\"",
        "{\"\":0}",
        "[[[[[[[[]]]]]]]]",
        "[1,[2,[3,[]]],{\"a\":{}}]",
        "{\"a\":1,\"a\":2}", /* json_object() detects the duplicate key */
    };
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_no_fault(json_check(cases[i], strlen(cases[i]), &limits, &fault), &fault);
}

static void check_bad(const struct bad *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fault fault;

        assert_int_equal(json_check(cases[i].input, strlen(cases[i].input), &limits, &fault), -1);
        assert_fault(&fault, FAULT_PARSE_ERROR, cases[i].pointer, cases[i].text, cases[i].input);
    }
}

static void test_bad_structure(void **state)
{
    static const struct bad cases[] = {
        {"", "", "the text ends where a value is expected"},
        {" \n ", "", "the text ends where a value is expected"},
        {"[", "/0", "the text ends where a value is expected"},
        {"[1", "", "the text ends where ',' or ']' is expected"},
        {"[1,", "/1", "the text ends where a value is expected"},
        {"[1,]", "/1", "a value is expected, not ']'"},
        {"[,1]", "/0", "a value is expected, not ','"},
        {"[1 2]", "", "',' or ']' is expected, not '2'"},
        {"[1}", "", "',' or ']' is expected, not '}'"},
        {"{", "", "the text ends where a member's name in double quotes is expected"},
        {"{\"a\"", "/a", "the text ends where ':' is expected"},
        {"{\"a\" 1}", "/a", "':' is expected, not '1'"},
        {"{\"a\":", "/a", "the text ends where a value is expected"},
        {"{\"a\":}", "/a", "a value is expected, not '}'"},
        {"{\"a\":1", "", "the text ends where ',' or '}' is expected"},
        {"{\"a\":1,", "", "the text ends where a member's name in double quotes is expected"},
        {"{\"a\":1,}", "", "a member's name in double quotes is expected, not '}'"},
        {"{a:1}", "", "a member's name in double quotes is expected, not 'a'"},
        {"{'a':1}", "", "a member's name in double quotes is expected, not '''"},
        {"{1:1}", "", "a member's name in double quotes is expected, not '1'"},
        {"{\"a\":1]", "", "',' or '}' is expected, not ']'"},
        {"1 2", "", "the end of the text is expected, not '2'"},
        {"{}}", "", "the end of the text is expected, not '}'"},
        {"{} // no", "", "the end of the text is expected, not '/'"},
        {"/* no */ 1", "", "a value is expected, not '/'"},
        {"[1,\xc3\xa4]", "/1", "a value is expected, not '\xc3\xa4'"},
        {"[1,\xff]", "/1", "a value is expected, not byte 0xff"},
        {"[1,\x0b 2]", "/1", "a value is expected, not byte 0x0b"},
        {"[\xc2\xa0]", "/0", "a value is expected, not '\xc2\xa0'"}, /* a no-break space */
        {"\xef\xbb\xbf{}", "", "the text must not begin with a byte order mark"},
        {"{\"a\":{\"b\":[0,{\"c\":x}]}}", "/a/b/1/c",
         "x is not a value: a number, a string, true, false, null, an array or an object is "
         "expected"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_words(void **state)
{
#define NO_VALUE                                                                                   \
    " is not a value: a number, a string, true, false, null, an array or an object is expected"
    static const struct bad cases[] = {
        {"[1.5]", "/0", "1.5: a whole number is required, without fraction or exponent"},
        {"[1.0]", "/0", "1.0: a whole number is required, without fraction or exponent"},
        {"[0.5]", "/0", "0.5: a whole number is required, without fraction or exponent"},
        {"[100.5]", "/0", "100.5: a whole number is required, without fraction or exponent"},
        {"[-1.5]", "/0", "-1.5: a whole number is required, without fraction or exponent"},
        {"[1e3]", "/0", "1e3: a whole number is required, without fraction or exponent"},
        {"[1E+3]", "/0", "1E+3: a whole number is required, without fraction or exponent"},
        {"[1e999]", "/0", "1e999: a whole number is required, without fraction or exponent"},
        {"[1.]", "/0", "1.: a whole number is required, without fraction or exponent"},
        {"[9007199254740992]", "/0",
         "9007199254740992: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted"},
        {"[9007199254740993]", "/0",
         "9007199254740993: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted"},
        {"[-9007199254740992]", "/0",
         "-9007199254740992: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted"},
        {"[18446744073709551616]", "/0",
         "18446744073709551616: whole numbers from -(2^53 - 1) to 2^53 - 1 are accepted"},
        {"[01]", "/0", "01: a number does not begin with 0"},
        {"[-01]", "/0", "-01: a number does not begin with 0"},
        {"[00]", "/0", "00: a number does not begin with 0"},
        {"[-]", "/0", "'-' must be followed by a digit"},
        {"[--1]", "/0", "--1 is not a number"},
        {"[1-1]", "/0", "1-1 is not a number"},
        {"[0x10]", "/0", "0x10 is not a number"},
        {"[1_000]", "/0", "1_000 is not a number"},
        {"[12abc]", "/0", "12abc is not a number"},
        {"[-Infinity]", "/0", "-Infinity is not a number"},
        {"[-.5]", "/0", "-.5 is not a number"},
        {"[+1]", "/0", "+1" NO_VALUE},
        {"[.5]", "/0", ".5" NO_VALUE},
        {"[NaN]", "/0", "NaN" NO_VALUE},
        {"[Infinity]", "/0", "Infinity" NO_VALUE},
        {"[True]", "/0", "True" NO_VALUE},
        {"[nul]", "/0", "nul" NO_VALUE},
        {"[nullx]", "/0", "nullx" NO_VALUE},
        {"truefalse", "", "truefalse" NO_VALUE},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_strings(void **state)
{
#define CONTROL " in a string must be written as an escape"
#define ESCAPES "a backslash must be followed by one of \" \\ / b f n r t u"
    static const struct bad cases[] = {
        {"\"", "", "the string that begins here does not end"},
        {"\"abc", "", "the string that begins here does not end"},
        {"\"abc\\", "", "the text ends within a string"},
        {"\"abc\\\"", "", "the string that begins here does not end"},
        {"[\"a\nb\"]", "/0", "control character 0x0a" CONTROL},
        {"[\"a\tb\"]", "/0", "control character 0x09" CONTROL},
        {"[\"\x1f\"]", "/0", "control character 0x1f" CONTROL},
        {"[\"\\x41\"]", "/0", ESCAPES},
        {"[\"\\'\"]", "/0", ESCAPES},
        {"[\"\\U0041\"]", "/0", ESCAPES},
        {"[\"\\u12\"]", "/0", "\\u must be followed by four hexadecimal digits"},
        {"[\"\\u12g4\"]", "/0", "\\u must be followed by four hexadecimal digits"},
        {"[\"\\u+123\"]", "/0", "\\u must be followed by four hexadecimal digits"},
        {"\"\\u12", "", "\\u must be followed by four hexadecimal digits"},
        {"[\"a\\u0000b\"]", "/0", "\\u0000 is not accepted in a string"},
        {"{\"a\\u0000b\":1}", "", "\\u0000 is not accepted in a string"},
        {"{\"x\":{\"a\\u0000\":1}}", "/x", "\\u0000 is not accepted in a string"},
        {"[\"\\ud800\"]", "/0", "\\ud800 is half of a surrogate pair"},
        {"[\"\\udc00\"]", "/0", "\\udc00 is half of a surrogate pair"},
        {"[\"\\ud800\\ud800\"]", "/0", "\\ud800 is half of a surrogate pair"},
        {"[\"\\ud800x\"]", "/0", "\\ud800 is half of a surrogate pair"},
        {"[\"\\ud800\\n12345\"]", "/0", "\\ud800 is half of a surrogate pair"},
        {"[\"\\ud800\\u00e4\"]", "/0", "\\ud800 is half of a surrogate pair"},
        {"\"\\ud800\\udc0", "", "\\ud800 is half of a surrogate pair"},
        {"[\"\xc0\x80\"]", "/0", "byte 0xc0 is not valid UTF-8"},
        {"[\"\xe0\x80\xaf\"]", "/0", "byte 0xe0 is not valid UTF-8"},
        {"[\"\xed\xa0\x80\"]", "/0", "byte 0xed is not valid UTF-8"},
        {"[\"\xf4\x90\x80\x80\"]", "/0", "byte 0xf4 is not valid UTF-8"},
        {"[\"\xe2\x82\"]", "/0", "byte 0xe2 is not valid UTF-8"},
        {"\"\xe2\x82", "", "byte 0xe2 is not valid UTF-8"},
        {"[\"\x80\"]", "/0", "byte 0x80 is not valid UTF-8"},
        {"{\"\xff\":1}", "", "byte 0xff is not valid UTF-8"},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_embedded_nul(void **state)
{
    static const char outside[] = "{}\0{}", inside[] = "[\"a\0b\"]", escape[] = "[\"\\\0\"]";
    struct fault fault;

    (void)state;
    assert_int_equal(json_check(outside, sizeof outside - 1, &limits, &fault), -1);
    assert_fault(&fault, FAULT_PARSE_ERROR, "", "the end of the text is expected, not byte 0x00",
                 "outside");
    assert_int_equal(json_check(inside, sizeof inside - 1, &limits, &fault), -1);
    assert_fault(&fault, FAULT_PARSE_ERROR, "/0", "control character 0x00" CONTROL, "inside");
    assert_int_equal(json_check(escape, sizeof escape - 1, &limits, &fault), -1);
    assert_fault(&fault, FAULT_PARSE_ERROR, "/0", ESCAPES, "after a backslash");
    assert_int_equal(json_check(NULL, 0, &limits, &fault), -1);
    assert_fault(&fault, FAULT_PARSE_ERROR, "", "the text ends where a value is expected", "null");
}

static void test_pointer_decodes_keys(void **state)
{
    static const struct bad cases[] = {
        {"{\"a\\/b~\":x1}", "/a~1b~0", "x1" NO_VALUE},
        {"{\"\\u0061\\u00e4\\uD83D\\uDE00\\n\":[[x1]]}", "/a\xc3\xa4\xf0\x9f\x98\x80\n/0/0",
         "x1" NO_VALUE},
        {"{\"\":x1}", "/", "x1" NO_VALUE},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_place(void **state)
{
    static const struct {
        const char *text;
        unsigned line, column;
    } cases[] = {
        {"", 1, 1},
        {"x", 1, 1},
        {"  x", 1, 3},
        {"[\n  1,\n  x]", 3, 3},
        {"[\"\xc3\xa4\xe2\x82\xac\", x]", 1, 8}, /* columns count characters, not bytes */
        {"[1,\r\n x]", 2, 2},
        {"[\"abc", 1, 2}, /* the error is at the place where the string begins */
        {"[1,\n", 2, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fault fault;

        assert_int_equal(json_check(cases[i].text, strlen(cases[i].text), &limits, &fault), -1);
        assert_int_equal(fault.line, cases[i].line);
        assert_int_equal(fault.column, cases[i].column);
    }
}

static void test_deep(void **state)
{
    enum { DEPTH = 100000 };
    static const char *const opening[] = {"[", "{\"a\":"};
    static const char *const pointers[] = {"/0/0/0/0/0/0/0/0", "/a/a/a/a/a/a/a/a"};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(opening); k++) {
        size_t size = strlen(opening[k]);
        char *text = malloc(size * DEPTH);
        struct fault fault;

        assert_non_null(text);
        for (size_t i = 0; i < DEPTH; i++)
            memcpy(text + i * size, opening[k], size);
        assert_int_equal(json_check(text, size * DEPTH, &limits, &fault), -1);
        assert_fault(&fault, FAULT_LIMIT, pointers[k],
                     "arrays and objects are nested more than 8 deep here", "deep");
        assert_int_equal(fault.column, 8 * size + 1);
        free(text);
    }
}

/* A limit of depth above JSON_DEPTH_MAX has the same effect as JSON_DEPTH_MAX. */
static void test_depth_beyond_the_stack(void **state)
{
    static const struct json_limits generous = {.bytes = 1000, .depth = 1000, .values = 1000};
    char text[2 * (JSON_DEPTH_MAX + 1)];
    struct fault fault;

    (void)state;
    memset(text, '[', JSON_DEPTH_MAX);
    memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
    assert_no_fault(json_check(text, 2 * JSON_DEPTH_MAX, &generous, &fault), &fault);
    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_int_equal(json_check(text, sizeof text, &generous, &fault), -1);
    assert_int_equal(fault.code, FAULT_LIMIT);
}

static void test_limits(void **state)
{
    static const struct json_limits narrow = {.bytes = 12, .depth = 8, .values = 4};
    struct fault fault;

    (void)state;
    assert_no_fault(json_check("[1,2,3]     ", 12, &narrow, &fault), &fault);
    assert_int_equal(json_check("[1,2,3]      ", 13, &narrow, &fault), -1);
    assert_fault(&fault, FAULT_LIMIT, "", "the text has 13 bytes; at most 12 are accepted",
                 "bytes");
    assert_int_equal(json_check("[1,2,3,4]", 9, &narrow, &fault), -1);
    assert_fault(&fault, FAULT_LIMIT, "/3", "more than 4 values", "values");
}

static void test_long_key_is_cut(void **state)
{
    char text[1000] = "{\"", pointer[FAULT_POINTER_MAX];
    struct fault fault;

    (void)state;
    memset(text + 2, 'k', 500);
    strcpy(text + 502, "\":x1}");
    memset(pointer, 'k', sizeof pointer);
    pointer[0] = '/';
    pointer[sizeof pointer - 1] = '\0';
    /* The key is one run of plain characters, which the end of the buffer cuts. */
    assert_int_equal(json_check(text, strlen(text), &limits, &fault), -1);
    assert_fault(&fault, FAULT_PARSE_ERROR, pointer, "x1" NO_VALUE, "a long key");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad_structure),
        cmocka_unit_test(test_bad_words),
        cmocka_unit_test(test_bad_strings),
        cmocka_unit_test(test_embedded_nul),
        cmocka_unit_test(test_pointer_decodes_keys),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_depth_beyond_the_stack),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long_key_is_cut),
    };

    return cmocka_run_group_tests_name("json_scan", tests, NULL, NULL);
}
