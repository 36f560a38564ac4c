/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

struct document {
    struct json root;
    struct fault fault;
};

static void parse(struct document *document, const char *text)
{
    assert_no_fault(
        json_parse(text, strlen(text), &rpc_request_limits, &document->root, &document->fault),
        &document->fault);
}

#define assert_complaint(document, pointer, text)                                                  \
    assert_fault(&(document)->fault, FAULT_INVALID_PARAMS, pointer, text, "complaint")

static void test_parse_error(void **state)
{
    struct document document;

    (void)state;
    assert_int_equal(
        json_parse("{\"a\":1.5}", 9, &rpc_request_limits, &document.root, &document.fault), -1);
    assert_fault(&document.fault, FAULT_PARSE_ERROR, "/a",
                 "1.5: a whole number is required, without fraction or exponent", "1.5");
    json_free(&document.root); /* allowed after a failed parse */
}

static void test_int(void **state)
{
    struct document document;
    struct json value;
    int64_t number = 7;

    (void)state;
    parse(&document, "{\"a\":9007199254740991,\"b\":-9007199254740991,\"c\":-0,\"d\":\"1\","
                     "\"e\":true,\"f\":null,\"g\":[1],\"h\":{}}");
    value = json_member(&document.root, "a");
    assert_int_equal(json_int(&value, 0, INT64_MAX, &number), 0);
    assert_true(number == INT64_C(9007199254740991));
    value = json_member(&document.root, "b");
    assert_int_equal(json_int(&value, INT64_MIN, 0, &number), 0);
    assert_true(number == INT64_C(-9007199254740991));
    assert_int_equal(json_int(&value, -1, 4, &number), -1);
    assert_complaint(&document, "/b", "b: -9007199254740991 given; must be -1 to 4");
    value = json_member(&document.root, "c");
    assert_int_equal(json_int(&value, 0, 0, &number), 0);
    assert_int_equal(number, 0);
    value = json_member(&document.root, "d");
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/d", "d: a whole number is required, not a string");
    value = json_member(&document.root, "e");
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/e", "e: a whole number is required, not true or false");
    value = json_member(&document.root, "f");
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/f", "f: a whole number is required, not null");
    value = json_member(&document.root, "g");
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/g", "g: a whole number is required, not an array");
    value = json_member(&document.root, "h");
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/h", "h: a whole number is required, not an object");
    value = json_member(&document.root, "A"); /* keys match case-sensitively */
    assert_false(json_present(&value));
    assert_int_equal(json_int(&value, 0, 9, &number), -1);
    assert_complaint(&document, "/A", "A: missing, a whole number is required");
    assert_int_equal(number, 0);
    json_free(&document.root);
}

static void test_bool(void **state)
{
    struct document document;
    struct json value;
    bool answer = false;

    (void)state;
    parse(&document, "[true,false,1]");
    value = (struct json){0};
    assert_true(json_next(&document.root, &value));
    assert_int_equal(json_bool(&value, &answer), 0);
    assert_true(answer);
    assert_true(json_next(&document.root, &value));
    assert_int_equal(json_bool(&value, &answer), 0);
    assert_false(answer);
    assert_true(json_next(&document.root, &value));
    assert_int_equal(json_bool(&value, &answer), -1);
    assert_complaint(&document, "/2", "[2]: true or false is required, not a number");
    assert_false(json_next(&document.root, &value));
    json_free(&document.root);
}

static void test_string(void **state)
{
    struct document document;
    struct json value;
    const char *text = NULL;

    (void)state;
    parse(&document, "{\"a\":\"four\",\"b\":\"\",\"c\":1,\"d\":\"\\u00e4\\/\"}");
    value = json_member(&document.root, "a");
    assert_int_equal(json_string(&value, 4, &text), 0);
    assert_string_equal(text, "four");
    assert_int_equal(json_string(&value, 3, &text), -1);
    assert_complaint(&document, "/a", "a: 4 bytes given; at most 3 are allowed");
    value = json_member(&document.root, "b");
    assert_int_equal(json_string(&value, 3, &text), -1);
    assert_complaint(&document, "/b", "b: must not be empty");
    assert_int_equal(json_text(&value, 3, &text), 0);
    assert_string_equal(text, "");
    value = json_member(&document.root, "c");
    assert_int_equal(json_string(&value, 3, &text), -1);
    assert_complaint(&document, "/c", "c: a string is required, not a number");
    value = json_member(&document.root, "d");
    assert_int_equal(json_string(&value, 3, &text), 0);
    assert_string_equal(text, "\xc3\xa4/");
    json_free(&document.root);
}

static void test_types(void **state)
{
    struct document document;
    struct json value = {0};

    (void)state;
    parse(&document, "[1,\"\",[],{},null,true]");
    for (int i = 0; json_next(&document.root, &value); i++) {
        assert_int_equal(json_is_int(&value), i == 0);
        assert_int_equal(json_is_string(&value), i == 1);
        assert_int_equal(json_is_array(&value), i == 2);
        assert_int_equal(json_is_object(&value), i == 3);
        assert_int_equal(json_is_null(&value), i == 4);
    }
    value = json_member(&document.root, "none");
    assert_false(json_is_int(&value) || json_is_string(&value) || json_is_array(&value) ||
                 json_is_object(&value) || json_is_null(&value));
    json_free(&document.root);
}

static void test_object(void **state)
{
    static const char *const allowed[] = {"offset", "size", "a", NULL};
    static const struct bad cases[] = {
        {"[]", "", "an object is required, not an array"},
        {"{\"ofset\":1}", "/ofset", "ofset: unknown member; did you mean \"offset\"?"},
        {"{\"Offset\":1}", "/Offset", "Offset: unknown member; did you mean \"offset\"?"},
        {"{\"padding\":1}", "/padding", "padding: unknown member"},
        {"{\"\":1}", "/", ": unknown member"},
        {"{\"size\":1,\"a\":2,\"size\":1}", "/size", "size: given twice"},
        {"{\"a\":1,\"\\u0061\":1}", "/a", "a: given twice"},
        {"{\"b/~\":1}", "/b~1~0", "b/~: unknown member"},
        {"{\"x\":{\"offset\":[{\"offset\":1}]}}", "/x", "x: unknown member"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct document document;

        parse(&document, cases[i].input);
        assert_int_equal(json_object(&document.root, allowed), -1);
        assert_complaint(&document, cases[i].pointer, cases[i].text);
        json_free(&document.root);
    }
}

static void test_object_good(void **state)
{
    static const char *const allowed[] = {"offset", "size", "a", NULL};
    static const char *const none[] = {NULL};
    struct document document;
    struct json member = {0};

    (void)state;
    parse(&document, "{\"size\":1,\"a\":{\"any\":{},\"thing\":[]}}");
    assert_no_fault(json_object(&document.root, allowed), &document.fault);
    assert_true(json_next(&document.root, &member));
    assert_string_equal(member.key, "size");
    assert_true(json_next(&document.root, &member));
    assert_string_equal(member.key, "a");
    assert_false(json_next(&document.root, &member));
    assert_int_equal(json_object(&document.root, none), -1);
    assert_complaint(&document, "/size", "size: unknown member");
    json_free(&document.root);
}

static void test_members(void **state)
{
    static const char *const keys[] = {"a", "b", "c", NULL};
    struct document document;
    struct json members[3], absent;
    int64_t number;

    (void)state;
    parse(&document, "{\"c\":3,\"a\":{\"b\":2,\"b\":1}}");
    assert_no_fault(json_members(&document.root, keys, members), &document.fault);
    assert_true(json_is_object(&members[0]));
    assert_false(json_present(&members[1]));
    assert_int_equal(json_int(&members[2], 0, 9, &number), 0);
    assert_int_equal(number, 3);
    assert_int_equal(json_int(&members[1], 0, 9, &number), -1);
    assert_complaint(&document, "/b", "b: missing, a whole number is required");
    absent = members[1];
    assert_int_equal(json_members(&absent, keys, members), 0);
    assert_false(json_present(&members[0]));
    absent = json_member(&document.root, "a");
    assert_int_equal(json_members(&absent, keys, members), -1);
    assert_complaint(&document, "/a/b", "a.b: given twice");
    assert_int_equal(json_members(&document.root, keys + 1, members), -1);
    assert_complaint(&document, "/a", "a: unknown member");
    json_free(&document.root);
}

static void test_too_many_members(void **state)
{
    static const char *const allowed[] = {"a", NULL};

    (void)state;
    for (int count = JSON_KEYS_MAX; count <= JSON_KEYS_MAX + 1; count++) {
        char text[8 * (JSON_KEYS_MAX + 2)] = "{";
        struct document document;

        for (int i = 0; i < count; i++)
            sprintf(text + strlen(text), "%s\"a\":1", i ? "," : "");
        strcat(text, "}");
        parse(&document, text);
        assert_int_equal(json_object(&document.root, allowed), -1);
        if (count == JSON_KEYS_MAX)
            assert_complaint(&document, "/a", "a: given twice");
        else
            assert_complaint(&document, "", "65 members given; at most 64 are allowed");
        json_free(&document.root);
    }
}

static void test_array(void **state)
{
    struct document document;
    struct json value, item = {0};
    size_t count = 7;

    (void)state;
    parse(&document, "{\"a\":[1,[2,{\"b/~\":3}],4],\"e\":[],\"n\":1}");
    value = json_member(&document.root, "a");
    assert_int_equal(json_array(&value, &count), 0);
    assert_int_equal(count, 3);
    assert_true(json_next(&value, &item));
    assert_int_equal(item.index, 0);
    assert_true(json_next(&value, &item));
    assert_int_equal(item.index, 1);
    {
        struct json inner = {0}, member;

        json_next(&item, &inner);
        json_next(&item, &inner);
        member = json_member(&inner, "b/~");
        json_complain(&member, "%d is odd", 3);
        assert_complaint(&document, "/a/1/1/b~1~0", "a[1][1].b/~: 3 is odd");
    }
    value = json_member(&document.root, "e");
    item = (struct json){0};
    assert_int_equal(json_array(&value, &count), 0);
    assert_int_equal(count, 0);
    assert_false(json_next(&value, &item));
    value = json_member(&document.root, "n");
    assert_int_equal(json_array(&value, &count), -1);
    assert_complaint(&document, "/n", "n: an array is required, not a number");
    json_free(&document.root);
}

static void test_base(void **state)
{
    struct document document;
    struct json jobs, job = {0}, cfg, offset;

    (void)state;
    parse(&document, "{\"jobs\":[{\"cfg\":{\"offset\":1}}]}");
    jobs = json_member(&document.root, "jobs");
    assert_true(json_next(&jobs, &job));
    job.base = true;
    cfg = json_member(&job, "cfg");
    offset = json_member(&cfg, "offset");
    json_complain(&offset, "odd");
    assert_complaint(&document, "/jobs/0/cfg/offset", "cfg.offset: odd");
    json_complain(&job, "odd");
    assert_complaint(&document, "/jobs/0", "odd");
    json_free(&document.root);
}

static void test_defaults(void **state)
{
    struct document document;
    struct json defaults, job, value, storage;
    int64_t number;

    (void)state;
    parse(&document, "{\"defaults\":{\"a\":1,\"b\":2,\"o\":{\"x\":1,\"y\":2},\"p\":{\"z\":5}},"
                     "\"job\":{\"b\":3,\"o\":{\"y\":4}}}");
    defaults = json_member(&document.root, "defaults");
    job = json_member(&document.root, "job");
    job.defaults = &defaults;
    value = json_member(&job, "a");
    assert_int_equal(json_int(&value, 0, 9, &number), 0);
    assert_int_equal(number, 1);
    value = json_member(&job, "b");
    assert_int_equal(json_int(&value, 0, 9, &number), 0);
    assert_int_equal(number, 3);
    {
        struct json merged = json_member_merged(&job, "o", &storage), x, y, z;

        x = json_member(&merged, "x");
        y = json_member(&merged, "y");
        z = json_member(&merged, "z");
        assert_int_equal(json_int(&x, 0, 9, &number), 0);
        assert_int_equal(number, 1);
        assert_int_equal(json_int(&y, 0, 9, &number), 0);
        assert_int_equal(number, 4);
        assert_int_equal(json_int(&z, 0, 9, &number), -1);
        assert_complaint(&document, "/job/o/z", "job.o.z: missing, a whole number is required");
        json_complain(&x, "odd");
        assert_complaint(&document, "/defaults/o/x", "defaults.o.x: odd");
        merged = json_member_merged(&job, "p", &storage);
        z = json_member(&merged, "z");
        assert_int_equal(json_int(&z, 0, 9, &number), 0);
        merged = json_member_merged(&job, "q", &storage);
        assert_false(json_present(&merged));
    }
    json_free(&document.root);
}

static void test_long_keys_in_sentences(void **state)
{
    static const char *const allowed[] = {"a", NULL};
    char text[600] = "{\"", expected[100];
    struct document document;

    (void)state;
    memset(text + 2, 'k', 500);
    strcpy(text + 502, "\":1}");
    parse(&document, text);
    assert_int_equal(json_object(&document.root, allowed), -1);
    memset(expected, 'k', 48);
    strcpy(expected + 48, "...: unknown member");
    assert_string_equal(document.fault.text, expected);
    assert_int_equal(strlen(document.fault.pointer), FAULT_POINTER_MAX - 1);
    json_free(&document.root);

    /* the place of the cut is inside a character of two bytes */
    memcpy(text + 2 + 47, "\xc3\xa4", 2);
    parse(&document, text);
    assert_int_equal(json_object(&document.root, allowed), -1);
    strcpy(expected + 47, "...: unknown member");
    assert_string_equal(document.fault.text, expected);
    json_free(&document.root);
}

/* Cuts a name that is longer than half of the message. */
static void test_deep_names_in_sentences(void **state)
{
    enum { DEPTH = 10 };
    char text[512] = "", expected[FAULT_TEXT_MAX] = "";
    struct json values[DEPTH + 1] = {0};
    struct document document;

    (void)state;
    for (int i = 0; i < DEPTH; i++)
        strcat(text, "{\"twenty_bytes_of_name\":");
    strcat(text, "1}}}}}}}}}}");
    parse(&document, text);
    values[0] = document.root;
    for (int i = 0; i < DEPTH; i++) {
        values[i + 1] = json_member(&values[i], "twenty_bytes_of_name");
        strcat(expected, i ? ".twenty_bytes_of_name" : "twenty_bytes_of_name");
    }
    json_complain(&values[DEPTH], "odd");
    strcpy(expected + FAULT_TEXT_MAX / 2 - 3, ": odd");
    assert_string_equal(document.fault.text, expected);
    json_free(&document.root);
}

static void test_choice(void **state)
{
#define FORTY "a word of forty letters, or nearly so ..."
    static const char *const words[] = {"mov", "permute", NULL};
    static const char *const long_words[] = {FORTY, FORTY, FORTY, FORTY, NULL};
    static const struct bad cases[] = {
        {"[\"permut\"]", "/0", "[0]: \"permut\" is unknown; did you mean \"permute\"?"},
        {"[\"transpose\"]", "/0", "[0]: \"transpose\" is unknown; known: mov, permute"},
        {"[\"\"]", "/0", "[0]: must not be empty"},
        {"[1]", "/0", "[0]: a string is required, not a number"},
    };
    struct document document;
    struct json item = {0};
    size_t index;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        item = (struct json){0};
        parse(&document, cases[i].input);
        assert_true(json_next(&document.root, &item));
        assert_int_equal(json_choice(&item, words, &index), -1);
        assert_complaint(&document, cases[i].pointer, cases[i].text);
        json_free(&document.root);
    }
    parse(&document, "\"permute\"");
    assert_int_equal(json_complain_choice(&document.root, "q", long_words), -1);
    assert_complaint(&document, "",
                     "\"q\" is unknown; known: " FORTY ", " FORTY ", " FORTY ", ...");
    assert_int_equal(json_choice(&document.root, words, &index), 0);
    assert_int_equal(index, 1);
    json_free(&document.root);
}

static void test_nearest(void **state)
{
    static const char *const words[] = {"src",         "dst",          "cfg", "sub_sample_step",
                                        "padding_pre", "padding_post", NULL};

    static const struct {
        const char *given, *nearest;
    } cases[] = {
        {"scr", "src"},
        {"srcs", "src"},
        {"SRC", "src"},
        {"sr", "src"},
        {"s", NULL},
        {"", NULL},
        {"dest", "dst"},
        {"config", NULL},
        {"subsample_step", "sub_sample_step"},
        {"sub_sample_steps", "sub_sample_step"},
        {"padding_port", "padding_post"},
        {"pading_per", "padding_pre"},
        {"a_word_that_is_longer_than_any_member_has_ever_been", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *nearest = nearest_word(cases[i].given, words);

        if (cases[i].nearest)
            assert_string_equal(nearest ? nearest : "(none)", cases[i].nearest);
        else
            assert_null(nearest);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_error),
        cmocka_unit_test(test_int),
        cmocka_unit_test(test_bool),
        cmocka_unit_test(test_string),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_object),
        cmocka_unit_test(test_object_good),
        cmocka_unit_test(test_too_many_members),
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_long_keys_in_sentences),
        cmocka_unit_test(test_deep_names_in_sentences),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_nearest),
    };

    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
