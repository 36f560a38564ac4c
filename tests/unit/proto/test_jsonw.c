/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/jsonw.h"

#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

static void test_shapes(void **state)
{
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    assert_string_equal(jsonw_text(&w), "");
    jsonw_object_begin(&w, NULL);
    jsonw_int(&w, "a", -1);
    jsonw_array_begin(&w, "b");
    jsonw_uint(&w, NULL, 1);
    jsonw_array_begin(&w, NULL);
    jsonw_array_end(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_object_end(&w);
    jsonw_null(&w, NULL);
    jsonw_array_end(&w);
    jsonw_bool(&w, "c", true);
    jsonw_bool(&w, "d", false);
    jsonw_string(&w, "e", "x");
    jsonw_object_end(&w);
    jsonw_newline(&w);
    jsonw_array_begin(&w, NULL);
    jsonw_array_end(&w);
    assert_string_equal(jsonw_text(&w),
                        "{\"a\":-1,\"b\":[1,[],{},null],\"c\":true,\"d\":false,\"e\":\"x\"}\n[]");
    assert_int_equal(w.length, strlen(w.data));
    jsonw_reset(&w);
    jsonw_int(&w, NULL, 5);
    assert_string_equal(jsonw_text(&w), "5");
    jsonw_finish(&w);
}

static void test_numbers(void **state)
{
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    jsonw_array_begin(&w, NULL);
    jsonw_int(&w, NULL, INT64_MIN);
    jsonw_int(&w, NULL, INT64_MAX);
    jsonw_uint(&w, NULL, UINT64_MAX);
    jsonw_uint(&w, NULL, (UINT64_C(1) << 53) - 1);
    jsonw_uint(&w, NULL, UINT32_MAX);
    jsonw_array_end(&w);
    assert_string_equal(jsonw_text(&w), "[-9007199254740991,9007199254740991,9007199254740991,"
                                        "9007199254740991,4294967295]");
    jsonw_finish(&w);
}

static void test_strings(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\n\r\t\b\f\x01\x1f", "\"\\n\\r\\t\\b\\f\\u0001\\u001f\""},
        {"\x7f", "\"\x7f\""},
        {"\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct jsonw w;

        jsonw_init(&w);
        jsonw_string(&w, NULL, cases[i].text);
        assert_string_equal(jsonw_text(&w), cases[i].written);
        jsonw_finish(&w);
    }
}

/* The strict reader accepts all written text, and reads valid strings unchanged. */
static void test_every_byte_pair(void **state)
{
    (void)state;
    for (unsigned pair = 0x0101; pair <= 0xffff; pair++) {
        char text[] = {(char)(pair >> 8), (char)(pair & 0xff), 0};
        struct fault fault;
        struct jsonw w;

        jsonw_init(&w);
        jsonw_object_begin(&w, NULL);
        jsonw_key(&w, text);
        jsonw_string(&w, NULL, text);
        jsonw_object_end(&w);
        jsonw_text(&w);
        assert_no_fault(json_check(w.data, w.length, &rpc_request_limits, &fault), &fault);
        jsonw_finish(&w);
    }
}

/*
 * Writes each value of the outer levels on a line of its own, and separates values of inner levels
 * by spaces.
 */
static void write_something(struct jsonw *w)
{
    jsonw_array_begin(w, NULL);
    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "a", 1);
    jsonw_array_begin(w, "b");
    jsonw_uint(w, NULL, 2);
    jsonw_object_begin(w, NULL);
    jsonw_key(w, "c");
    jsonw_raw(w, NULL, "[3]");
    jsonw_null(w, "d");
    jsonw_object_end(w);
    jsonw_array_end(w);
    jsonw_key(w, "e");
    jsonw_object_begin(w, NULL);
    jsonw_object_end(w);
    jsonw_object_end(w);
    jsonw_bool(w, NULL, true);
    jsonw_array_end(w);
    jsonw_newline(w);
}

static void test_lines(void **state)
{
    static const char *const texts[] = {
        "[{\"a\":1,\"b\":[2,{\"c\":[3],\"d\":null}],\"e\":{}},true]\n",
        "[\n  {\"a\": 1, \"b\": [2, {\"c\": [3], \"d\": null}], \"e\": {}},\n  true\n]\n",
        ("[\n  {\n    \"a\": 1,\n    \"b\": [2, {\"c\": [3], \"d\": null}],\n    \"e\": {}\n  },\n"
         "  true\n]\n"),
    };

    (void)state;
    for (uint8_t lines = 0; lines < 3; lines++) {
        struct jsonw w;

        jsonw_init_lines(&w, lines);
        write_something(&w);
        assert_string_equal(jsonw_text(&w), texts[lines]);
        jsonw_reset(&w);
        write_something(&w);
        assert_string_equal(jsonw_text(&w), texts[lines]);
        jsonw_finish(&w);
    }
}

static void test_raw(void **state)
{
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_raw(&w, "a", "[1,2]");
    jsonw_raw(&w, "b", "null");
    jsonw_object_end(&w);
    assert_string_equal(jsonw_text(&w), "{\"a\":[1,2],\"b\":null}");
    jsonw_finish(&w);
}

static void test_growth(void **state)
{
    enum { COUNT = 100000 };
    struct fault fault;
    struct json root, item = {0};
    struct jsonw w;
    int64_t number;

    (void)state;
    jsonw_init(&w);
    jsonw_array_begin(&w, NULL);
    for (int i = 0; i < COUNT; i++)
        jsonw_int(&w, NULL, i);
    jsonw_array_end(&w);
    assert_non_null(jsonw_text(&w));
    assert_no_fault(json_parse(w.data, w.length, &rpc_reply_limits, &root, &fault), &fault);
    for (int i = 0; i < COUNT; i++) {
        assert_true(json_next(&root, &item));
        assert_int_equal(json_int(&item, 0, COUNT, &number), 0);
        assert_int_equal(number, i);
    }
    json_free(&root);
    jsonw_finish(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings), cmocka_unit_test(test_every_byte_pair),
        cmocka_unit_test(test_lines),   cmocka_unit_test(test_raw),
        cmocka_unit_test(test_growth),
    };

    return cmocka_run_group_tests_name("jsonw", tests, NULL, NULL);
}
