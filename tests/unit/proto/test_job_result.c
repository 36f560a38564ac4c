/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "proto/wire/job.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

#define COST                                                                                       \
    "\"cost\":{\"bytes\":6,\"channels\":2,\"engine\":\"inline\",\"ns_queued\":10,\"ns_moving\":"   \
    "20}"
#define RESULT(dst) "{\"dst\":" dst "," COST "}"

static int read_result(const char *text, struct job_result *result, struct fault *fault)
{
    struct json root;
    int status;

    assert_no_fault(json_parse(text, strlen(text), &rpc_reply_limits, &root, fault), fault);
    status = job_result_read(&root, result);
    json_free(&root);
    return status;
}

static void test_round_trip(void **state)
{
    static const char *const texts[] = {
        RESULT("{\"type\":\"fx8\",\"shape\":[2,3],\"strides\":[3,1],\"frac_bits\":7}"),
        RESULT("{\"type\":\"fp32\",\"shape\":[4]}"),
        RESULT("{\"type\":\"sa8\",\"shape\":[2,3],\"strides\":[3,1],\"axis\":0,\"scale\":[1,2],"
               "\"zero_point\":[3,4],\"scale_frac_bits\":[5,6]}"),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct job_result result;
        struct fault fault;
        struct jsonw w;

        jsonw_init(&w);
        assert_no_fault(read_result(texts[i], &result, &fault), &fault);
        assert_int_equal(result.bytes, 6);
        assert_int_equal(result.channels, 2);
        assert_string_equal(result.engine, "inline");
        assert_int_equal(result.ns_queued, 10);
        assert_int_equal(result.ns_moving, 20);
        job_result_write(&w, NULL, &result);
        assert_string_equal(jsonw_text(&w), texts[i]);
        jsonw_finish(&w);
        job_result_finish(&result);
        job_result_finish(&result);
    }
}

static void test_bad(void **state)
{
#define DESC "{\"type\":\"fx8\",\"shape\":[2]}"
    static const struct bad cases[] = {
        {"1", "", "an object is required, not a number"},
        {"{\"job\":0}", "/job", "job: 0 given; must be 1 to 9007199254740991"},
        {"{\"dst\":1," COST "}", "/dst", "dst: an object is required, not a number"},
        {"{\"dst\":" DESC "}", "/cost", "cost: missing, an object is required"},
        {RESULT("{\"shape\":[2]}"), "/dst/type", "dst.type: missing, a string is required"},
        {RESULT("{\"type\":\"fx8\"}"), "/dst/shape", "dst.shape: missing, an array is required"},
        {RESULT("{\"typ\":\"fx8\"}"), "/dst/type", "dst.type: missing, a string is required"},
        {"{\"dst\":" DESC ",\"cost\":{\"bytes\":-1}}", "/cost/bytes",
         "cost.bytes: -1 given; must be 0 to 9007199254740991"},
        {"{\"dst\":" DESC ",\"cost\":{\"bytes\":1,\"channels\":17}}", "/cost/channels",
         "cost.channels: 17 given; must be 0 to 16"},
        {"{\"dst\":" DESC ",\"cost\":{\"bytes\":1,\"channels\":1,\"ns_queued\":1,"
         "\"ns_moving\":1,\"engine\":\"an engine with a name that is long\"}}",
         "/cost/engine", "cost.engine: 34 bytes given; at most 23 are allowed"},
        {"{\"dst\":" DESC "," COST ",\"dst\":1}", "/dst", "dst: given twice"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct job_result result;
        struct fault fault;

        assert_int_equal(read_result(cases[i].input, &result, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        assert_null(result.dst.quant.scale);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bad),
    };

    return cmocka_run_group_tests_name("job_result", tests, NULL, NULL);
}
