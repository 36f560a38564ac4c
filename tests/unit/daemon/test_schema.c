/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that conf/mlid.schema.json has the keys and bounds of the configuration's reader. */
#include <string.h>

#include "daemon/config/config.h"
#include "proto/json/json.h"
#include "tests/support/json_schema.h"
#include "tests/support/unit.h"

static struct json schema, properties;
static struct fault schema_fault;

static int setup(void **state)
{
    (void)state;
    if (json_schema_load(MLID_SCHEMA, &schema, &schema_fault) < 0)
        return -1;
    properties = json_member(&schema, "properties");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    json_free(&schema);
    return 0;
}

static void test_keys(void **state)
{
    struct json member = {0};
    size_t count = 0, known = 0;

    (void)state;
    for (; config_members[known].key; known++) {
        struct json property = json_member(&properties, config_members[known].key);

        if (!json_present(&property))
            fail_msg("conf/mlid.schema.json lacks the key \"%s\"", config_members[known].key);
    }
    while (json_next(&properties, &member))
        count++;
    assert_int_equal(count, known);
}

/*
 * Compares the bounds of an object's members. If `all` is true, the object must have no other
 * members.
 */
static void assert_numbers(const struct json *object, const struct member *members, bool all,
                           bool defaults)
{
    struct json member = {0};
    size_t count = 0, known = 0;

    for (const struct member *number = members; number->key; number++) {
        struct json property = json_member(object, number->key);

        if (number->kind != KIND_NUMBER)
            continue;
        known++;
        if (!json_present(&property))
            fail_msg("conf/mlid.schema.json lacks the number \"%s\"", number->key);
        json_schema_assert_bound(&property, "minimum", number->min);
        json_schema_assert_bound(&property, "maximum", number->max);
        if (defaults)
            json_schema_assert_bound(&property, "default", number->standard);
    }
    while (json_next(object, &member))
        count++;
    if (all)
        assert_int_equal(count, known);
}

static void test_numbers(void **state)
{
    struct json defs = json_member(&schema, "$defs"), quota = json_member(&defs, "quota");
    struct json of_quota = json_member(&quota, "properties");

    (void)state;
    assert_numbers(&properties, config_members, false, true);
    for (const struct member *m = config_members; m->key; m++) {
        struct json group = json_member(&properties, m->key);
        struct json members = json_member(&group, "properties");

        if (m->kind == KIND_OBJECT)
            assert_numbers(&members, m->members, true, true);
    }
    assert_numbers(&of_quota, quota_members, true, false);
}

/* Returns whether mlid accepts a configuration of one key with a string. */
static bool reads(const char *key, const char *value)
{
    struct config config;
    struct fault fault;
    struct jsonw w;
    bool read;

    config_defaults(&config);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, key, value);
    jsonw_object_end(&w);
    assert_non_null(jsonw_text(&w));
    read = config_read(&config, w.data, w.length, &fault) == 0;
    jsonw_finish(&w);
    return read;
}

static void test_strings(void **state)
{
    static char text[8192];
    struct json member = {0};
    size_t count = 0;

    (void)state;
    while (json_next(&properties, &member)) {
        struct json bound = json_member(&member, "maxLength");
        int64_t length;

        if (!json_present(&bound))
            continue;
        assert_int_equal(json_int(&bound, 1, sizeof text - 2, &length), 0);
        memset(text, 'a', sizeof text);
        text[length] = '\0';
        assert_true(reads(member.key, text));
        text[length] = 'a';
        text[length + 1] = '\0';
        assert_false(reads(member.key, text));
        count++;
    }
    assert_true(count > 4);
}

static void test_words(void **state)
{
    static const char *const keys[] = {"log_level", "log_format"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct json property = json_member(&properties, keys[i]);
        struct json words = json_member(&property, "enum"), word = {0};
        const char *text;
        size_t count;

        assert_int_equal(json_array(&words, &count), 0);
        while (json_next(&words, &word)) {
            assert_int_equal(json_string(&word, 64, &text), 0);
            assert_true(reads(keys[i], text));
        }
        assert_false(reads(keys[i], "no_such_word"));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests_name("configuration schema", tests, setup, teardown);
}
