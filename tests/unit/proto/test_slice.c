/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/file/slice.h"
#include "tests/support/proto_unit.h"

static struct slice parse(const char *text)
{
    struct slice slice;
    struct fault fault;

    assert_no_fault(slice_parse(text, &slice, &fault), &fault);
    return slice;
}

static void assert_entry(const struct slice_entry *entry, bool has_start, int64_t start,
                         bool has_stop, int64_t stop, int64_t step)
{
    assert_int_equal(entry->has_start, has_start);
    assert_int_equal(entry->has_stop, has_stop);
    assert_true(!has_start || entry->start == start);
    assert_true(!has_stop || entry->stop == stop);
    assert_true(entry->step == step);
}

static void test_entries(void **state)
{
    static const struct {
        const char *text;
        struct slice_entry entry;
    } cases[] = {
        {":", {false, false, 0, 0, 1}},
        {"::", {false, false, 0, 0, 1}},
        {"1:", {true, false, 1, 0, 1}},
        {":9", {false, true, 0, 9, 1}},
        {"1:9", {true, true, 1, 9, 1}},
        {"1:9:", {true, true, 1, 9, 1}},
        {"::2", {false, false, 0, 0, 2}},
        {"-3:-1:+4", {true, true, -3, -1, 4}},
        {" 1 : 9 :\t2 ", {true, true, 1, 9, 2}},
        {"0:00:007", {true, true, 0, 0, 7}},
        {"-9223372036854775808:9223372036854775807:9223372036854775807",
         {true, true, INT64_MIN, INT64_MAX, INT64_MAX}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice slice = parse(cases[i].text);
        const struct slice_entry *e = &cases[i].entry;

        assert_int_equal(slice.count, 1);
        assert_int_equal(slice.ellipsis, 1);
        assert_entry(&slice.entries[0], e->has_start, e->start, e->has_stop, e->stop, e->step);
    }
}

static void test_several(void **state)
{
    static const struct {
        const char *text;
        uint32_t count, ellipsis;
    } cases[] = {
        {"1:9,::2,:", 3, 3}, {":,:,:,:", 4, 4},     {"...", 0, 0},         {"...,1:", 1, 0},
        {"1:,...", 1, 1},    {":, ... , :", 2, 1},  {":,:,...,:,:", 4, 2}, {"1:2,", 1, 1},
        {"...,", 0, 0},      {":,:,:,:,...", 4, 4}, {"...,:,:,:,:", 4, 0}, {"1:2 , ", 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice slice = parse(cases[i].text);

        assert_int_equal(slice.count, cases[i].count);
        assert_int_equal(slice.ellipsis, cases[i].ellipsis);
    }
}

static void test_bad(void **state)
{
    static const struct bad cases[] = {
        {"", NULL, "the text ends where a number, ':' or '...' is expected"},
        {"  ", NULL, "the text ends where a number, ':' or '...' is expected"},
        {",", NULL, "character 1 is ',', where a number, ':' or '...' is expected"},
        {"1:2,,3:4", NULL, "character 5 is ',', where a number, ':' or '...' is expected"},
        {"1:2,,", NULL, "character 5 is ',', where a number, ':' or '...' is expected"},
        {"[1:2]", NULL, "character 1 is '[', where a number, ':' or '...' is expected"},
        {"1:2]", NULL, "character 4 is ']', where ',' or the end is expected"},
        {"1:2:3:4", NULL, "character 6 is ':', where ',' or the end is expected"},
        {"1:2 3:4", NULL, "character 5 is '3', where ',' or the end is expected"},
        {"1.5:", NULL, "character 2 is '.', where ':' is expected"},
        {"..,1:", NULL, "character 1 is '.', where a number, ':' or '...' is expected"},
        {"....", NULL, "character 4 is '.', where ',' or the end is expected"},
        {"-:", NULL, "character 2 is ':', where a digit is expected"},
        {"1:--2", NULL, "character 4 is '-', where a digit is expected"},
        {":- 2", NULL, "character 3 is ' ', where a digit is expected"},
        {"1:-", NULL, "the text ends where a digit is expected"},
        {"1 2:", NULL, "character 3 is '2', where ':' is expected"},
        {"None", NULL, "character 1 is 'N', where a number, ':' or '...' is expected"},
        {"0x1:", NULL, "character 2 is 'x', where ':' is expected"},
        {":,\xc3\xa4:", NULL,
         "character 3 is '\xc3\xa4', where a number, ':' or '...' is expected"},
        {":\xc3\xa4,", NULL, "character 2 is '\xc3\xa4', where ',' or the end is expected"},
        {"\xff", NULL, "character 1 is '?', where a number, ':' or '...' is expected"},
        {"3", NULL, "entry 1 is the index 3, and a move does not drop dimensions; write 3:4"},
        {":,-1", NULL, "entry 2 is the index -1, and a move does not drop dimensions; write -1:"},
        {"-2 ,:", NULL,
         "entry 1 is the index -2, and a move does not drop dimensions; write -2:-1"},
        {":, ::0", NULL, "entry 2: step 0 given; must be at least 1"},
        {"::-1", NULL, "entry 1: step -1 given; must be at least 1"},
        {"...,:,...", NULL, "'...' is given twice, but allowed only once"},
        {":,:,:,:,:,:,:,:,:", NULL, "more than 8 entries given"},
        {":,:,:,:,:,:,:,:,3", NULL, "more than 8 entries given"},
        {"9223372036854775808:", NULL, "the number at character 1 does not fit into 64 bits"},
        {":-9223372036854775809", NULL, "the number at character 2 does not fit into 64 bits"},
        {"::99999999999999999999999", NULL, "the number at character 3 does not fit into 64 bits"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice slice;
        struct fault fault = {0};

        assert_int_equal(slice_parse(cases[i].input, &slice, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].input);
    }
}

/* Computes a slice as Python's manual defines it: tests every index. */
static int64_t select_slowly(const struct slice_entry *e, int64_t extent, int64_t *first,
                             int64_t *last)
{
    int64_t from = e->has_start ? e->start : 0, to = e->has_stop ? e->stop : extent, count = 0;

    if (from < 0)
        from += extent;
    if (to < 0)
        to += extent;
    if (from < 0)
        from = 0;
    for (int64_t i = 0; i < extent; i++) {
        if (i < from || i >= to || (i - from) % e->step != 0)
            continue;
        if (count++ == 0)
            *first = i;
        *last = i;
    }
    return count;
}

/* Tests all small slices of all small extents. */
static void test_apply_exhaustively(void **state)
{
    enum { REACH = 7 };
    struct slice slice = {.count = 1, .ellipsis = 1};
    struct slice_entry *e = &slice.entries[0];
    size_t empty = 0, full = 0;

    (void)state;
    for (int64_t extent = 1; extent <= 5; extent++) {
        for (int64_t start = -REACH; start <= REACH + 1; start++) {
            for (int64_t stop = -REACH; stop <= REACH + 1; stop++) {
                for (int64_t step = 1; step <= 6; step++) {
                    struct slice_window window[TENSOR_RANK_MAX];
                    struct fault fault;
                    int64_t first = 0, last = 0, count, got;

                    /* REACH + 1 means that this number is absent in the slice */
                    *e = (struct slice_entry){start <= REACH, stop <= REACH, start, stop, step};
                    count = select_slowly(e, extent, &first, &last);
                    if (count == 0) {
                        empty++;
                        assert_int_equal(slice_apply(&slice, 1, &extent, window, &fault), -1);
                        continue;
                    }
                    full++;
                    assert_no_fault(slice_apply(&slice, 1, &extent, window, &fault), &fault);
                    got = (window[0].size + window[0].step - 1) / window[0].step;
                    assert_int_equal(window[0].offset, first);
                    assert_int_equal(got, count);
                    assert_int_equal(first + (got - 1) * window[0].step, last);
                    assert_true(window[0].offset + window[0].size <= extent);
                }
            }
        }
    }
    assert_true(empty > 1000 && full > 1000);
}

static void test_missing_dimensions(void **state)
{
    static const int64_t extents[] = {10, 11, 12, 13};

    static const struct {
        const char *text;
        uint32_t rank;
        uint32_t offsets[TENSOR_RANK_MAX], sizes[TENSOR_RANK_MAX];
    } cases[] = {
        {"1:", 3, {1, 0, 0}, {9, 11, 12}},         {"1:,...", 3, {1, 0, 0}, {9, 11, 12}},
        {"...,1:", 3, {0, 0, 1}, {10, 11, 11}},    {"1:,...,2:", 4, {1, 0, 0, 2}, {9, 11, 12, 11}},
        {"1:,...,2:,3:", 3, {1, 2, 3}, {9, 9, 9}}, {"...", 2, {0, 0}, {10, 11}},
        {":,...,:", 2, {0, 0}, {10, 11}},          {"-2:,:-2", 2, {8, 0}, {2, 9}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice slice = parse(cases[i].text);
        struct slice_window windows[TENSOR_RANK_MAX];
        struct fault fault;

        assert_no_fault(slice_apply(&slice, cases[i].rank, extents, windows, &fault), &fault);
        for (uint32_t d = 0; d < cases[i].rank; d++) {
            assert_int_equal(windows[d].offset, cases[i].offsets[d]);
            assert_int_equal(windows[d].size, cases[i].sizes[d]);
            assert_int_equal(windows[d].step, 1);
        }
    }
}

static void test_extremes(void **state)
{
    const int64_t huge = (INT64_C(1) << 32) + 509, largest = UINT32_MAX;
    struct slice_window window[TENSOR_RANK_MAX];
    struct slice slice = parse("-9223372036854775808:9223372036854775807:9223372036854775807");
    struct fault fault;

    (void)state;
    assert_no_fault(slice_apply(&slice, 1, &largest, window, &fault), &fault);
    assert_true(window[0].size == UINT32_MAX && window[0].step == UINT32_MAX);
    assert_int_equal(window[0].offset, 0);
    assert_int_equal(slice_apply(&slice, 1, &huge, window, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "the window in dimension 0 does not fit into 32 bits", "huge");
    slice = parse("-1:");
    assert_int_equal(slice_apply(&slice, 1, &huge, window, &fault), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, NULL,
                 "the window in dimension 0 does not fit into 32 bits", "huge offset");
    slice = parse("4294967295:4294967297:4294967295");
    assert_no_fault(slice_apply(&slice, 1, &huge, window, &fault), &fault);
    assert_true(window[0].offset == UINT32_MAX && window[0].step == UINT32_MAX);
    assert_int_equal(window[0].size, 2);
}

static void test_bad_apply(void **state)
{
    static const int64_t extents[] = {4, 9};
    static const struct bad cases[] = {
        {":,:,:", NULL, "3 entries given, but the source has 2 dimensions"},
        {"...,:,:,:", NULL, "3 entries given, but the source has 2 dimensions"},
        {":,3:3", NULL, "nothing is selected of dimension 1: 3:3 given, of 9 (padded) elements"},
        {"4:", NULL, "nothing is selected of dimension 0: 4: given, of 4 (padded) elements"},
        {"...,:-9", NULL, "nothing is selected of dimension 1: :-9 given, of 9 (padded) elements"},
        {"3:-2", NULL, "nothing is selected of dimension 0: 3:-2 given, of 4 (padded) elements"},
        {":,20:30", NULL,
         "nothing is selected of dimension 1: 20:30 given, of 9 (padded) elements"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct slice slice = parse(cases[i].input);
        struct slice_window windows[TENSOR_RANK_MAX];
        struct fault fault = {0};

        assert_int_equal(slice_apply(&slice, 2, extents, windows, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, cases[i].text, cases[i].input);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_apply_exhaustively),
        cmocka_unit_test(test_missing_dimensions),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bad_apply),
    };

    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
