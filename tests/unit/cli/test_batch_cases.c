/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests names of cases, --filter, and the directories of kept cases. */
#include <stdlib.h>
#include <string.h>

#include "cli/batch/cases.h"
#include "cli/batch/kept.h"
#include "tests/support/proto_unit.h"

static void add(struct cases *cases, const char *called, const char *file)
{
    struct fault fault = {0};

    assert_no_fault(cases_add(cases, called, file, NULL, 0, &fault), &fault);
}

static void test_names(void **state)
{
    static const char *const called[][2] = {
        {"a.json", "a"},           {"./a/b.json", "a/b"},     {"././/a", "a"},
        {"../a.json", "../a"},     {"/x/./a.json", "/x/./a"}, {".json", ".json"},
        {"a/.json", "a/"},         {"a.json.json", "a.json"}, {"a.JSON", "a.JSON"},
        {"sp ace.json", "sp ace"}, {"\xff.json", "\xff"},
    };
    struct cases cases = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(called); i++) {
        add(&cases, called[i][0], called[i][0]);
        assert_string_equal(cases.list[i]->name, called[i][1]);
    }
    cases_finish(&cases);
}

static bool is_not_b(const void *context, const char *name)
{
    return strcmp(name, context) != 0;
}

static void test_sorted_and_unique(void **state)
{
    struct cases cases = {0};
    struct fault fault = {0};

    (void)state;
    assert_no_fault(cases_sort(&cases, &fault), &fault);
    add(&cases, "c.json", "1");
    add(&cases, "a/z.json", "2");
    add(&cases, "b", "3");
    add(&cases, "a.json", "4");
    assert_no_fault(cases_sort(&cases, &fault), &fault);
    assert_string_equal(cases.list[0]->name, "a");
    assert_string_equal(cases.list[1]->name, "a/z");
    cases_retain(&cases, is_not_b, "b");
    assert_int_equal(cases.count, 3);
    assert_string_equal(cases.list[2]->file, "1");
    add(&cases, "./c.json", "5");
    assert_int_equal(cases_sort(&cases, &fault), -1);
    assert_non_null(strstr(fault.text, "two cases have the name c: 1 and 5"));
    cases_finish(&cases);
}

static void test_job_files(void **state)
{
    static const struct {
        const char *text;
        bool is_one;
    } texts[] = {
        {"{\"op\":1}", true},
        {"{\"x\":{\"op\":1}}", false},
        {"[{\"x\":1},{\"dst\":2}]", true},
        {"{}", false},
        {"[]", false},
        {"[[{\"op\":1}]]", false},
        {"7", false},
        {"\"op\"", false},
        {"null", false},
        {"", true},
        {"{", true},
        {"{\"seed\":3,\"atol\":1e-3}", false},
        {"[1.5, 12345678901234567890]", false},
        {"{\"a\":1.5,\"op\":1}", true},
        {"[{\"a\":1.5},{\"dst\":-0.5}]", true},
        {"{\"a\":1.5x}", true},
        {"{\"a\":NaN}", true},
        {"{\"defaults\":{}}", true},
        {"{\"jobs\":[]}", true},
        {"{\"src\":null}", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        if (cases_is_job_text(texts[i].text, strlen(texts[i].text)) != texts[i].is_one)
            fail_msg("%s", texts[i].text);
    }
}

static void test_filters(void **state)
{
    static const struct option table[] = {
        {"other", "X", "", .repeats = true}, {"filter", "GLOB", "", .repeats = true}, {NULL}};
    char words[][16] = {"--filter",     "conv/*",   "--other", "pool/*",
                        "--filter=!*7", "--filter", "a?"};
    char *argv[COUNT_OF(words)];
    static const char *const in[] = {"conv/a", "conv/a/b", "ab"}, *const out[] = {
                                                                      "conv",   "pool/a",
                                                                      "conv/7", "conv/x/17",
                                                                      "a",      "abc"};
    struct options options;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        argv[i] = words[i];
    assert_int_equal(options_parse(&options, table, (int)COUNT_OF(words), argv), 0);
    assert_int_equal(cases_check_filter(&options), 0);
    for (size_t i = 0; i < COUNT_OF(in); i++)
        assert_true(cases_filter_selects(&options, in[i]));
    for (size_t i = 0; i < COUNT_OF(out); i++)
        assert_false(cases_filter_selects(&options, out[i]));
    options = (struct options){.table = table};
    assert_true(cases_filter_selects(&options, "anything"));
}

static void test_places(void **state)
{
    static const char *const places[][2] = {
        {"a", "d/a"},           {"a/b.c", "d/a/b.c"},     {"../a", "d/%2E./a"},
        {"..", "d/%2E."},       {"a/../b", "d/a/%2E./b"}, {"./a", "d/%2E/a"},
        {"/a", "d/%2Fa"},       {"a..b", "d/a..b"},       {"..a", "d/..a"},
        {"%2Fa", "d/%252Fa"},   {"a/...", "d/a/%2E.."},   {"/../a", "d/%2F%2E./a"},
        {".kept", "d/%2Ekept"}, {"a/.kept", "d/a/.kept"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        char *place = kept_place("d", places[i][0]);

        assert_string_equal(place, places[i][1]);
        free(place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_sorted_and_unique),
        cmocka_unit_test(test_job_files), cmocka_unit_test(test_filters),
        cmocka_unit_test(test_places),
    };

    return cmocka_run_group_tests_name("cases", tests, NULL, NULL);
}
