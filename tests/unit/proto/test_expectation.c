/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "proto/file/job_file.h"
#include "proto/file/job_spec.h"
#include "tests/support/proto_unit.h"

#define ZEROS  "0000000000000000000000000000000000000000000000000000000000000000"
#define DIGEST "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define JOB(expect)                                                                                \
    "{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\"},\"dst\":{\"file\":\"b.npy\"},\"expect\":" expect \
    "}"

static int parse(const char *text, struct job_list *list, struct fault *fault)
{
    return job_file_parse(text, strlen(text), list, fault);
}

static void test_kinds(void **state)
{
    struct job_list list;
    struct fault fault;
    const struct expectation *expect;

    (void)state;
    assert_no_fault(parse(JOB("{\"digest\":\"" DIGEST "\"}"), &list, &fault), &fault);
    expect = &list.jobs[0].expect;
    assert_int_equal(expect->kind, EXPECT_DIGEST);
    assert_int_equal(expect->digest[0], 0x00);
    assert_int_equal(expect->digest[1], 0x11);
    assert_int_equal(expect->digest[31], 0xff);
    assert_null(expect->golden.file);
    job_list_finish(&list);
    assert_no_fault(parse(JOB("{\"error\":\"TIMED_OUT\"}"), &list, &fault), &fault);
    expect = &list.jobs[0].expect;
    assert_int_equal(expect->kind, EXPECT_ERROR);
    assert_string_equal(expect->error, "TIMED_OUT");
    assert_null(expect->pointer);
    job_list_finish(&list);
    assert_no_fault(
        parse(JOB("{\"pointer\":\"/cfg/size/1\",\"error\":\"MLI_STATUS_BAD_FUNC_CFG\"}"), &list,
              &fault),
        &fault);
    expect = &list.jobs[0].expect;
    assert_string_equal(expect->error, "MLI_STATUS_BAD_FUNC_CFG");
    assert_string_equal(expect->pointer, "/cfg/size/1");
    job_list_finish(&list);
}

static void test_every_error(void **state)
{
#define STATUS_NAME(name, value, text) "MLI_STATUS_" #name,
#define FAULT_NAME(name, code, text)   #name,
    static const char *const names[] = {MLI_STATUS_TABLE(STATUS_NAME) FAULT_TABLE(FAULT_NAME)};
    char text[256];

    (void)state;
    for (size_t i = 1; i < COUNT_OF(names); i++) {
        struct job_list list;
        struct fault fault;

        snprintf(text, sizeof text, JOB("{\"error\":\"%s\"}"), names[i]);
        assert_no_fault(parse(text, &list, &fault), &fault);
        assert_string_equal(list.jobs[0].expect.error, names[i]);
        job_list_finish(&list);
    }
}

static void test_bad(void **state)
{
    static const struct bad cases[] = {
        {JOB("{}"), "/expect", "expect: \"file\", \"digest\" or \"error\" is required"},
        {JOB("{\"format\":\"raw\"}"), "/expect",
         "expect: \"file\", \"digest\" or \"error\" is required"},
        {JOB("{\"file\":\"g\",\"digest\":\"" DIGEST "\"}"), "/expect/digest",
         "expect.digest: given beside \"file\"; only one of the two is allowed"},
        {JOB("{\"error\":\"LIMIT\",\"digest\":\"" DIGEST "\"}"), "/expect/error",
         "expect.error: given beside \"digest\"; only one of the two is allowed"},
        {JOB("{\"error\":\"LIMIT\",\"format\":\"raw\"}"), "/expect/format",
         "expect.format: describes a golden file; allowed only with \"file\""},
        {JOB("{\"file\":\"g\",\"pointer\":\"/src\"}"), "/expect/pointer",
         "expect.pointer: is the place of an error; allowed only with \"error\""},
        {JOB("{\"error\":\"LIMIT\",\"pointer\":\"src\"}"), "/expect/pointer",
         "expect.pointer: a JSON pointer relative to the job is required, such as \"/cfg/size\""},
        {JOB("{\"error\":\"LIMIT\",\"pointer\":\"\"}"), "/expect/pointer",
         "expect.pointer: must not be empty"},
        {JOB("{\"error\":\"LIMIT\",\"pointer\":1}"), "/expect/pointer",
         "expect.pointer: a string is required, not a number"},
        {JOB("{\"params\":\"p.json\"}"), "/expect",
         "expect: \"file\", \"digest\" or \"error\" is required"},
        {JOB("{\"error\":\"LIMIT\",\"params\":{}}"), "/expect/params",
         "expect.params: a job that fails has no result; allowed only with \"file\" or \"digest\""},
        {JOB("{\"file\":\"g\",\"params\":7}"), "/expect/params",
         "expect.params: the name of a file or an object with parameters is required"},
        {JOB("{\"file\":\"g\",\"params\":{\"scale\":[1,2]}}"), "/expect/params/scale",
         "expect.params.scale: an array requires \"axis\""},
        {JOB("{\"file\":\"g\",\"params\":{\"shape\":[1]}}"), "/expect/params/shape", NULL},
        {JOB("{\"file\":\"g\",\"params\":{\"type\":\"fp32\",\"scale\":1}}"), "/expect/params/scale",
         NULL},
        {JOB("{\"error\":\"MLI_STATUS_OK\"}"), "/expect/error",
         "expect.error: MLI_STATUS_OK is not an error"},
        {JOB("{\"error\":\"MLI_STATUS_BAD_FUN_CFG\"}"), "/expect/error",
         "expect.error: \"MLI_STATUS_BAD_FUN_CFG\" is unknown; did you mean "
         "\"MLI_STATUS_BAD_FUNC_CFG\"?"},
        {JOB("{\"error\":\"BAD_FUNC_CFG\"}"), "/expect/error",
         "expect.error: \"BAD_FUNC_CFG\" is unknown; did you mean \"MLI_STATUS_BAD_FUNC_CFG\"?"},
        {JOB("{\"error\":\"REFUSE\"}"), "/expect/error",
         "expect.error: \"REFUSE\" is unknown; did you mean \"REFUSED\"?"},
        {JOB("{\"error\":7}"), "/expect/error", "expect.error: a string is required, not a number"},
        {JOB("{\"digest\":\"sha256:\"}"), "/expect/digest",
         "expect.digest: \"sha256:\" and 64 hexadecimal digits are required"},
        {JOB("{\"digest\":\"" ZEROS "\"}"), "/expect/digest",
         "expect.digest: \"sha256:\" and 64 hexadecimal digits are required"},
        {JOB("{\"digest\":\"sha512:" ZEROS "\"}"), "/expect/digest",
         "expect.digest: \"sha256:\" and 64 hexadecimal digits are required"},
        {JOB("{\"digest\":\"sha256:" ZEROS "0\"}"), "/expect/digest",
         "expect.digest: \"sha256:\" and 64 hexadecimal digits are required"},
        {JOB("{\"digest\":\"" DIGEST "\",\"digest\":1}"), "/expect/digest",
         "expect.digest: given twice"},
        {"{\"defaults\":{\"expect\":{\"error\":\"X\"}},\"jobs\":[{\"expect\":{\"file\":\"g\"}}]}",
         "/defaults/expect/error", NULL},
        {"{\"defaults\":{\"expect\":{\"digest\":\"X\"}},\"jobs\":[]}", "/defaults/expect/digest",
         NULL},
        {"{\"defaults\":{\"expect\":{\"pointer\":\"X\"}},\"jobs\":[]}", "/defaults/expect/pointer",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct job_list list;
        struct fault fault = {0};

        assert_int_equal(parse(cases[i].input, &list, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer,
                     cases[i].text ? cases[i].text : fault.text, cases[i].input);
    }
}

static void test_unknown_errors_are_listed(void **state)
{
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_int_equal(parse(JOB("{\"error\":\"nonsense\"}"), &list, &fault), -1);
    assert_non_null(strstr(fault.text, "\"nonsense\" is unknown; known: MLI_STATUS_BAD_TENSOR, "));
    assert_null(strstr(fault.text, "MLI_STATUS_OK"));
}

/* A job either takes the whole member "expect" of the defaults, or has its own "expect". */
static void test_defaults(void **state)
{
    static const char text[] =
        "{\"defaults\":{\"op\":\"mov\",\"src\":{\"file\":\"a.npy\"},\"dst\":{\"file\":\"b.npy\"},"
        "\"expect\":{\"error\":\"LIMIT\",\"pointer\":\"/src\"}},"
        "\"jobs\":[{},{\"expect\":{\"file\":\"g\"}},{\"expect\":{\"error\":\"REFUSED\"}}]}";
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_no_fault(parse(text, &list, &fault), &fault);
    assert_string_equal(list.jobs[0].expect.error, "LIMIT");
    assert_string_equal(list.jobs[0].expect.pointer, "/src");
    assert_int_equal(list.jobs[1].expect.kind, EXPECT_FILE);
    assert_null(list.jobs[1].expect.pointer);
    assert_string_equal(list.jobs[2].expect.error, "REFUSED");
    assert_null(list.jobs[2].expect.pointer);
    job_list_finish(&list);
}

/* A job may expect the error of a wrong rank, but not the error of an unknown member. */
static void test_wrong_ranks(void **state)
{
#define RANKS(expect)                                                                              \
    "{\"op\":\"mov\",\"src\":{\"file\":\"a\",\"shape\":[2,3],\"type\":\"fx8\"},\"dst\":{\"file\":" \
    "\"b\"},\"cfg\":{\"size\":[1]}" expect "}"
    struct job_list list;
    struct fault fault;

    (void)state;
    assert_int_equal(parse(RANKS(""), &list, &fault), -1);
    assert_int_equal(parse(RANKS(",\"expect\":{\"file\":\"g\"}"), &list, &fault), -1);
    assert_no_fault(parse(RANKS(",\"expect\":{\"error\":\"INVALID_PARAMS\"}"), &list, &fault),
                    &fault);
    job_list_finish(&list);
    assert_int_equal(
        parse(RANKS(",\"no\":1,\"expect\":{\"error\":\"INVALID_PARAMS\"}"), &list, &fault), -1);
}

static void test_write(void **state)
{
    static const char *const texts[] = {
        JOB("{\"digest\":\"" DIGEST "\"}"),
        JOB("{\"error\":\"REFUSED\"}"),
        JOB("{\"error\":\"MLI_STATUS_BAD_TENSOR\",\"pointer\":\"/src\"}"),
        JOB("{\"file\":\"g\",\"format\":\"npy\"}"),
        JOB("{\"file\":\"g\",\"params\":\"p.json\"}"),
        JOB("{\"file\":\"g\",\"params\":{}}"),
        JOB("{\"file\":\"g\",\"params\":{\"type\":\"sa8\",\"axis\":1,\"scale\":[3,-4],"
            "\"zero_point\":[0,5],\"scale_frac_bits\":[1,1]}}"),
        JOB("{\"params\":{\"frac_bits\":7},\"digest\":\"" DIGEST "\"}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct job_list list;
        struct fault fault;
        struct jsonw w;

        jsonw_init(&w);
        assert_no_fault(parse(texts[i], &list, &fault), &fault);
        job_file_write(&w, NULL, &list.jobs[0]);
        assert_string_equal(jsonw_text(&w), texts[i]);
        job_list_finish(&list);
        jsonw_finish(&w);
    }
}

static void test_digests(void **state)
{
    uint8_t digest[SHA256_SIZE];
    char text[SHA256_TEXT_SIZE];

    (void)state;
    assert_true(sha256_from_text(
        "sha256:00112233445566778899AABBCCDDEEFF00112233445566778899aAbBcCdDeEfF", digest));
    assert_string_equal(sha256_to_text(digest, text), DIGEST);
    assert_false(sha256_from_text(
        "sha256:0011223344556677889gaabbccddeeff00112233445566778899aabbccddeeff", digest));
    assert_false(sha256_from_text("", digest));
}

static void test_names(void **state)
{
    const struct expectation refused = {.kind = EXPECT_ERROR, .error = "REFUSED"};
    struct expectation config = {.kind = EXPECT_ERROR, .error = "MLI_STATUS_BAD_FUNC_CFG"};
    char size[] = "/cfg/size", longer[] = "/cfg/size/1";
    struct fault fault;

    (void)state;
    fault_set_refused(&fault, MLI_STATUS_BAD_FUNC_CFG, "cfg.size[1]: 9 given");
    assert_string_equal(expectation_error_name(&fault), "MLI_STATUS_BAD_FUNC_CFG");
    assert_true(expectation_names(&refused, &fault));
    assert_true(expectation_names(&config, &fault));
    assert_true(expectation_points_at(&config, &fault));
    config.pointer = size;
    assert_false(expectation_points_at(&config, &fault));
    config.pointer = longer;
    assert_true(expectation_points_at(&config, &fault));
    fault_set_refused(&fault, MLI_STATUS_BAD_TENSOR, "of no place");
    assert_true(expectation_names(&refused, &fault));
    assert_false(expectation_names(&config, &fault));
    assert_false(expectation_points_at(&config, &fault));
    fault_set(&fault, FAULT_INVALID_PARAMS, "/cfg/size/1", "no refusal of libmli");
    assert_string_equal(expectation_error_name(&fault), "INVALID_PARAMS");
    assert_false(expectation_names(&refused, &fault));
    assert_false(expectation_names(&config, &fault));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_every_error),
        cmocka_unit_test(test_bad),      cmocka_unit_test(test_unknown_errors_are_listed),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_wrong_ranks),
        cmocka_unit_test(test_write),    cmocka_unit_test(test_digests),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests_name("expectation", tests, NULL, NULL);
}
