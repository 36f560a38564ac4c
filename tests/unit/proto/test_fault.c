/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "mli_api.h"
#include "proto/json/fault.h"
#include "proto/json/utf8.h"
#include "tests/support/proto_unit.h"

static void test_set(void **state)
{
    struct fault fault;

    (void)state;
    assert_int_equal(fault_set(&fault, FAULT_LIMIT, "/a/0", "%d jobs", 3), -1);
    assert_fault(&fault, FAULT_LIMIT, "/a/0", "3 jobs", "set");
    assert_int_equal(fault.status, MLI_STATUS_OK);
    assert_int_equal(fault.line, 0);
    fault_set(&fault, FAULT_INTERNAL, NULL, "x");
    assert_fault(&fault, FAULT_INTERNAL, NULL, "x", "no pointer");
    fault_set(&fault, FAULT_INTERNAL, "", "x");
    assert_fault(&fault, FAULT_INTERNAL, "", "x", "the root");
}

static void test_set_from_itself(void **state)
{
    struct fault fault;

    (void)state;
    fault_set(&fault, FAULT_LIMIT, "/a", "inner");
    fault_set(&fault, fault.code, fault.pointer, "outer: %s", fault.text);
    assert_fault(&fault, FAULT_LIMIT, "/a", "outer: inner", "itself");
}

static void test_control_characters(void **state)
{
    struct fault fault;

    (void)state;
    fault_set(&fault, FAULT_LIMIT, NULL, "a\x1b[31m\nb\x7f\xc2\x9b");
    assert_fault(&fault, FAULT_LIMIT, NULL, "a?[31m?b???", "control characters");
    fault_set(&fault, FAULT_LIMIT, NULL, "\xff\xc3\xa4\xe2\x82");
    assert_fault(&fault, FAULT_LIMIT, NULL, "?\xc3\xa4??", "bytes that are no text");
}

/* Cuts a text at each byte of a three-byte character. */
static void test_cut_at_characters(void **state)
{
    (void)state;
    for (size_t ahead = 0; ahead < 3; ahead++) {
        char text[2 * FAULT_TEXT_MAX] = "";
        struct fault fault;

        memset(text, 'x', ahead);
        for (size_t i = ahead; i + 3 < sizeof text; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        fault_set(&fault, FAULT_LIMIT, text, "%s", text);
        assert_in_range(strlen(fault.text), FAULT_TEXT_MAX - 3, FAULT_TEXT_MAX - 1);
        assert_int_equal((strlen(fault.text) - ahead) % 3, 0);
        assert_in_range(strlen(fault.pointer), FAULT_POINTER_MAX - 3, FAULT_POINTER_MAX - 1);
        assert_int_equal((strlen(fault.pointer) - ahead) % 3, 0);
    }
}

static void test_pointer_escape_is_not_cut(void **state)
{
    char pointer[FAULT_POINTER_MAX + 2];
    struct fault fault;

    (void)state;
    memset(pointer, 'x', sizeof pointer);
    memcpy(pointer + FAULT_POINTER_MAX - 2, "~0", 3);
    fault_set(&fault, FAULT_LIMIT, pointer, "cut");
    assert_int_equal(strlen(fault.pointer), FAULT_POINTER_MAX - 2);
    assert_null(strchr(fault.pointer, '~'));
}

static void test_refused(void **state)
{
    static const struct {
        const char *error, *pointer;
    } cases[] = {
        {"cfg.offset[1]: 9 given; must be below 4", "/cfg/offset/1"},
        {"cfg.perm_dim: no permutation", "/cfg/perm_dim"},
        {"cfg: null given", "/cfg"},
        {"src.shape[0]: 0 given", "/src"},
        {"dst.data.capacity: 1 B given", "/dst"},
        {"in.el_type: wrong", "/src"},
        {"out: null given", "/dst"},
        {"cfg.offset[x]: odd", "/cfg/offset"},
        {"cfg.offset[1: odd", "/cfg/offset"},
        {"cfgs.offset: no such argument", NULL},
        {"h: a stale handle", NULL},
        {"cfg", NULL},
        {"inner: nothing", NULL},
    };
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(fault_set_refused(&fault, MLI_STATUS_BAD_FUNC_CFG, cases[i].error), -1);
        assert_fault(&fault, FAULT_REFUSED, cases[i].pointer, cases[i].error, cases[i].error);
        assert_int_equal(fault.status, MLI_STATUS_BAD_FUNC_CFG);
    }
}

/* A message of libmli about strides names the job's member. */
static void test_refused_strides(void **state)
{
    static const struct {
        const char *error, *pointer, *text;
    } cases[] = {
        {"dst.mem_stride: elements overlap one another", "/dst",
         "dst.strides: elements overlap one another"},
        {"in.mem_stride[2]: -1 given", "/src", "src.strides[2]: -1 given"},
        {"cfg.dst_mem_stride[0]: -1 given", "/cfg/dst_mem_stride/0",
         "cfg.dst_mem_stride[0]: -1 given"},
    };
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fault_set_refused(&fault, MLI_STATUS_BAD_TENSOR, cases[i].error);
        assert_fault(&fault, FAULT_REFUSED, cases[i].pointer, cases[i].text, cases[i].error);
    }
}

static void test_refused_without_words(void **state)
{
    const char *text = mli_status_text(MLI_STATUS_BAD_TENSOR);
    struct fault fault;

    (void)state;
    fault_set_refused(&fault, MLI_STATUS_BAD_TENSOR, "");
    assert_fault(&fault, FAULT_REFUSED, NULL, text, "empty");
    fault_set_refused(&fault, MLI_STATUS_BAD_TENSOR, NULL);
    assert_fault(&fault, FAULT_REFUSED, NULL, text, "null");
}

/* fault_set_refused() finds the pointer of the member for real messages of libmli. */
static void test_refused_by_library(void **state)
{
    int8_t data[6] = {0};
    mli_tensor src = {.data = {.capacity = 6, .mem.pi8 = data},
                      .shape = {2, 3},
                      .rank = 2,
                      .el_type = MLI_EL_FX_8};
    mli_tensor dst = {0};
    mli_mov_cfg_t cfg;
    struct fault fault;

    (void)state;
    mli_mov_cfg_for_copy(&cfg);
    cfg.offset[1] = 7;
    fault_set_refused(&fault, mli_mov_layout(&src, &cfg, &dst), mli_last_error());
    assert_int_equal(fault.status, MLI_STATUS_BAD_FUNC_CFG);
    assert_string_equal(fault.pointer, "/cfg/offset/1");
}

static void test_prefix(void **state)
{
    char prefix[FAULT_POINTER_MAX];
    struct fault fault;

    (void)state;
    fault_set(&fault, FAULT_LIMIT, "/cfg", "x");
    fault_prefix(&fault, "/jobs/3");
    assert_fault(&fault, FAULT_LIMIT, "/jobs/3/cfg", "x", "prefix");
    fault_prefix(&fault, "");
    assert_fault(&fault, FAULT_LIMIT, "/jobs/3/cfg", "x", "empty prefix");
    fault_set(&fault, FAULT_LIMIT, "", "x");
    fault_prefix(&fault, "/3");
    assert_fault(&fault, FAULT_LIMIT, "/3", "x", "prefix of the root");
    fault_set(&fault, FAULT_LIMIT, NULL, "x");
    fault_prefix(&fault, "");
    assert_fault(&fault, FAULT_LIMIT, NULL, "x", "empty prefix of nothing");
    fault_prefix(&fault, "/3");
    assert_fault(&fault, FAULT_LIMIT, "/3", "x", "prefix of nothing");

    memset(prefix, 'p', sizeof prefix - 1);
    prefix[sizeof prefix - 1] = '\0';
    fault_prefix(&fault, prefix);
    assert_string_equal(fault.pointer, prefix);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(fault_name(-32700), "PARSE_ERROR");
    assert_string_equal(fault_name(FAULT_STREAM_ERROR), "STREAM_ERROR");
    assert_string_equal(fault_name(0), "UNKNOWN");
    assert_string_equal(fault_name(1), "UNKNOWN");
}

static void test_pointer_builder(void **state)
{
    char out[16];
    struct pointer pointer;

    (void)state;
    pointer_init(&pointer, out, sizeof out);
    assert_string_equal(out, "");
    pointer_token(&pointer);
    pointer_text(&pointer, "a/b~c", 5);
    pointer_index(&pointer, 12);
    assert_string_equal(out, "/a~1b~0c/12");
    pointer_token(&pointer);
    pointer_text(&pointer, "xy\xe2\x82\xacz", 6); /* cut after "xy" */
    assert_string_equal(out, "/a~1b~0c/12/xy");
    pointer_index(&pointer, 1);
    assert_string_equal(out, "/a~1b~0c/12/xy");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_set_from_itself),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_cut_at_characters),
        cmocka_unit_test(test_pointer_escape_is_not_cut),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_strides),
        cmocka_unit_test(test_refused_without_words),
        cmocka_unit_test(test_refused_by_library),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pointer_builder),
    };

    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
