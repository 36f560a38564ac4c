/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that reading and writing results, outlines and summaries reproduces their lines. */
#include <string.h>

#include "cli/report/result.h"
#include "proto/wire/rpc.h"
#include "tests/unit/cli/results.h"

static int parse(const char *text, struct json *root, struct fault *fault)
{
    *fault = (struct fault){0};
    return json_parse(text, strlen(text), &rpc_reply_limits, root, fault);
}

static int read_result(const char *text, struct case_result *result, struct fault *fault)
{
    struct json root;
    int status;

    assert_no_fault(parse(text, &root, fault), fault);
    status = case_result_read(&root, result);
    json_free(&root);
    return status;
}

static void write_result(struct jsonw *w, const struct case_result *result, bool fingerprint)
{
    jsonw_init(w);
    jsonw_object_begin(w, NULL);
    case_result_write(w, result, fingerprint);
    jsonw_object_end(w);
    assert_non_null(jsonw_text(w));
}

static void check_round_trip(struct case_result *result, const char *expected)
{
    struct jsonw w, again;
    struct case_result got;
    struct fault fault;

    write_result(&w, result, true);
    assert_string_equal(w.data, expected);
    assert_no_fault(read_result(w.data, &got, &fault), &fault);
    assert_string_equal(got.name, result->name);
    write_result(&again, &got, true);
    assert_string_equal(again.data, expected);
    case_result_finish(&got);
    case_result_finish(result);
    jsonw_finish(&w);
    jsonw_finish(&again);
}

static void test_passed(void **state)
{
    struct case_result result = results_make("conv/tile_3", CASE_PASSED);
    struct jsonw w;

    (void)state;
    write_result(&w, &result, false);
    assert_string_equal(w.data,
                        "{\"event\":\"case\",\"name\":\"conv/tile_3\",\"file\":\"cases/a.json\","
                        "\"status\":\"passed\",\"attempts\":1,\"ns\":1234567,\"bytes\":24}");
    jsonw_finish(&w);
    check_round_trip(&result,
                     "{\"event\":\"case\",\"name\":\"conv/tile_3\",\"file\":\"cases/a.json\","
                     "\"status\":\"passed\",\"attempts\":1,\"ns\":1234567,\"bytes\":24,"
                     "\"fingerprint\":\"0000000000000007\"}");
}

static void test_failed(void **state)
{
    struct case_result result =
        results_make_failed("a", CASE_FAILED, CASE_WHY_NOT_REFUSED, "say \"no\"\n");

    (void)state;
    result.difference = results_copy("{\"kind\":\"values\",\"at\":[1,0],\"b\":{\"value\":-1}}");
    result.kept = results_copy("batch-failed/a/job.json");
    result.rerun_command = results_copy("mlictl run batch-failed/a/job.json");
    result.fingerprint.job_file = UINT64_MAX;
    result.attempts = UINT32_MAX;
    check_round_trip(
        &result,
        "{\"event\":\"case\",\"name\":\"a\",\"file\":\"cases/a.json\",\"status\":\"failed\","
        "\"attempts\":4294967295,\"ns\":1234567,\"bytes\":24,\"reason\":\"not refused\","
        "\"message\":\"say \\\"no\\\"\\n\",\"pointer\":\"/expect\",\"difference\":{\"kind\":"
        "\"values\",\"at\":[1,0],\"b\":{\"value\":-1}},\"kept\":\"batch-failed/a/job.json\","
        "\"again\":\"mlictl run batch-failed/a/job.json\","
        "\"fingerprint\":\"ffffffffffffffff\"}");
}

static void test_basis(void **state)
{
    struct case_result result = results_make("a", CASE_PASSED);
    struct input_file files[] = {
        {INPUT_SRC, (char[]){"../in.npy"}, {"0123456789abcdef", "00000000000000ff"}},
        {INPUT_DST, (char[]){"big.npy"}, {.word = CONTENT_CHANGED}},
        {INPUT_EXPECT, (char[]){"g.npy"}, {.word = CONTENT_MISSING}}};

    (void)state;
    result.rerun_reason =
        results_copy("mlictl changed"); /* state files do not contain this member */
    result.fingerprint =
        (struct fingerprint){.job_file = 7, .known = true, .setup = {1, 2, UINT64_MAX}, .count = 3};
    result.fingerprint.files = calloc(3, sizeof(*files));
    assert_non_null(result.fingerprint.files);
    for (int i = 0; i < 3; i++) {
        result.fingerprint.files[i] = files[i];
        result.fingerprint.files[i].name = results_copy(files[i].name);
    }
    check_round_trip(
        &result,
        "{\"event\":\"case\",\"name\":\"a\",\"file\":\"cases/a.json\",\"status\":\"passed\","
        "\"attempts\":1,\"ns\":1234567,\"bytes\":24,\"fingerprint\":\"0000000000000007\","
        "\"basis\":{\"program\":\"0000000000000001\",\"service\":\"0000000000000002\","
        "\"options\":\"ffffffffffffffff\",\"files\":[{\"role\":\"src\",\"file\":\"../in.npy\","
        "\"content\":\"0123456789abcdef\",\"stamp\":\"00000000000000ff\"},{\"role\":\"dst\","
        "\"file\":\"big.npy\",\"content\":\"changed\"},{\"role\":\"expect\",\"file\":\"g.npy\","
        "\"content\":\"missing\"}]}}");
}

/* Every status and reason is read as it was written. */
static void test_words(void **state)
{
    (void)state;
    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        for (int reason = 0; reason < CASE_REASON_COUNT; reason++) {
            struct case_result result = results_make("a", (enum case_status)status), got;
            struct fault fault;
            struct jsonw w;

            result.reason = (enum case_reason)reason;
            write_result(&w, &result, true);
            assert_no_fault(read_result(w.data, &got, &fault), &fault);
            assert_int_equal(got.status, status);
            assert_int_equal(got.reason, reason);
            case_result_finish(&got);
            case_result_finish(&result);
            jsonw_finish(&w);
        }
    }
}

/* Two names with different invalid bytes stay different, although they print alike. */
static void test_bytes(void **state)
{
    struct case_result one = results_make("a\xff", CASE_PASSED),
                       two = results_make("a\xfe", CASE_PASSED);

    (void)state;
    check_round_trip(
        &one, "{\"event\":\"case\",\"name\":\"a\xef\xbf\xbd\",\"name_bytes\":\"61ff\","
              "\"file\":\"cases/a.json\",\"status\":\"passed\",\"attempts\":1,\"ns\":1234567,"
              "\"bytes\":24,\"fingerprint\":\"0000000000000007\"}");
    check_round_trip(
        &two, "{\"event\":\"case\",\"name\":\"a\xef\xbf\xbd\",\"name_bytes\":\"61fe\","
              "\"file\":\"cases/a.json\",\"status\":\"passed\",\"attempts\":1,\"ns\":1234567,"
              "\"bytes\":24,\"fingerprint\":\"0000000000000007\"}");
}

#define SETUP                                                                                      \
    "\"program\":\"0000000000000001\",\"service\":\"0000000000000002\","                           \
    "\"options\":\"0000000000000003\""
#define HEAD                                                                                       \
    "{\"event\":\"case\",\"name\":\"a\",\"file\":\"f\",\"status\":\"passed\",\"attempts\":1,"
#define REST "\"ns\":1,\"bytes\":1"
#define BYTES_WANTED                                                                               \
    "name_bytes: the bytes of a name that is not UTF-8 are required, two hexadecimal digits each"

static void test_strict(void **state)
{
    static const struct bad bads[] = {
        {"{}", "/name", "name: missing, a string is required"},
        {"[]", "", "an object is required, not an array"},
        {HEAD REST ",\"more\":1}", "/more", "more: unknown member"},
        {HEAD REST ",\"ns\":1}", "/ns", "ns: given twice"},
        {HEAD "\"ns\":-1,\"bytes\":1}", "/ns", "ns: -1 given; must be 0 to 9007199254740991"},
        {HEAD "\"ns\":1,\"bytes\":\"1\"}", "/bytes",
         "bytes: a whole number is required, not a string"},
        {HEAD REST ",\"reason\":\"\"}", "/reason", "reason: must not be empty"},
        {HEAD REST ",\"reason\":\"timeouts\"}", "/reason",
         "reason: \"timeouts\" is unknown; did you mean \"timeout\"?"},
        {HEAD REST ",\"message\":null}", "/message", "message: a string is required, not null"},
        {HEAD REST ",\"difference\":[]}", "/difference", "difference: an object is required"},
        {HEAD REST ",\"fingerprint\":\"7\"}", "/fingerprint",
         "fingerprint: 16 hexadecimal digits are required"},
        {HEAD REST ",\"basis\":{}}", "/basis/program",
         "basis.program: missing, a string is required"},
        {HEAD REST ",\"basis\":{" SETUP ",\"files\":[{\"role\":\"x\"}]}}", "/basis/files/0/role",
         "basis.files[0].role: \"x\" is unknown; known: src, dst, expect"},
        {HEAD REST ",\"basis\":{" SETUP ",\"files\":[{\"role\":\"src\",\"file\":\"f\"}]}}",
         "/basis/files/0/content", "basis.files[0].content: missing, a string is required"},
        {HEAD REST ",\"name_bytes\":\"6\"}", "/name_bytes", BYTES_WANTED},
        {HEAD REST ",\"name_bytes\":\"6g\"}", "/name_bytes", BYTES_WANTED},
        {HEAD REST ",\"name_bytes\":\"61\"}", "/name_bytes", BYTES_WANTED},
        {HEAD REST ",\"name_bytes\":\"00ff\"}", "/name_bytes", BYTES_WANTED},
    };
    struct case_result result;
    struct fault fault;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bads); i++) {
        static const struct case_result empty;

        assert_int_equal(read_result(bads[i].input, &result, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, bads[i].pointer, bads[i].text, bads[i].input);
        assert_memory_equal(&result, &empty, sizeof result);
    }
}

static void check_outline(const char *text)
{
    struct batch_outline outline;
    struct fault fault;
    struct json root;
    struct jsonw w;

    assert_no_fault(parse(text, &root, &fault), &fault);
    assert_no_fault(batch_outline_read(&root, &outline), &fault);
    json_free(&root);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    batch_outline_write(&w, "begin", &outline);
    jsonw_object_end(&w);
    assert_string_equal(jsonw_text(&w), text);
    jsonw_finish(&w);
}

#define BEGIN(cases, total, shard, resumed)                                                        \
    "{\"event\":\"begin\",\"cases\":" cases ",\"total\":" total ",\"shard\":" shard                \
    ",\"resumed\":" resumed ",\"set\":\"fedcba9876543210\"}"

static void test_outline(void **state)
{
    static const struct bad bads[] = {
        {BEGIN("3", "2", "null", "0"), "/cases", "cases: 3 given; must be 0 to 2"},
        {BEGIN("2", "3", "null", "0"), "/cases",
         "cases: 2 given; without a shard it must equal \"total\", 3"},
        {BEGIN("2", "3", "\"1/2\"", "3"), "/resumed", "resumed: 3 given; must be 0 to 2"},
        {BEGIN("2", "3", "\"3/2\"", "0"), "/shard",
         "shard: \"3/2\": in I/N, the index I must be from 1 to N"},
        {BEGIN("2", "3", "\"auto\"", "0"), "/shard",
         "shard: \"auto\": I/N is required: two whole numbers, as in 2/4"},
        {BEGIN("2", "4294967296", "\"1/2\"", "0"), "/total",
         "total: 4294967296 given; must be 0 to 4294967295"},
    };

    (void)state;
    check_outline(BEGIN("3", "3", "null", "3"));
    check_outline(BEGIN("0", "3", "\"2/4294967295\"", "0"));
    check_outline(
        "{\"event\":\"begin\",\"cases\":1,\"total\":1,\"shard\":null,\"resumed\":0,\"set\":"
        "\"0000000000000001\",\"anew\":true}");
    for (size_t i = 0; i < COUNT_OF(bads); i++) {
        struct batch_outline outline;
        struct fault fault;
        struct json root;

        assert_no_fault(parse(bads[i].input, &root, &fault), &fault);
        assert_int_equal(batch_outline_read(&root, &outline), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, bads[i].pointer, bads[i].text, bads[i].input);
        json_free(&root);
    }
}

static void test_summary(void **state)
{
    static const char text[] =
        "{\"event\":\"end\",\"passed\":5,\"ran\":8,\"flaky\":4,\"failed\":3,\"error\":2,"
        "\"updated\":1,\"not_run\":6,\"ns\":7,\"exit\":4}";
    struct batch_summary summary;
    struct fault fault;
    struct json root;
    struct jsonw w;

    (void)state;
    assert_no_fault(parse(text, &root, &fault), &fault);
    assert_no_fault(batch_summary_read(&root, &summary), &fault);
    json_free(&root);
    assert_int_equal(batch_summary_ended(&summary), 23);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    batch_summary_write(&w, &summary);
    jsonw_object_end(&w);
    assert_string_equal(jsonw_text(&w), text);
    jsonw_finish(&w);
    assert_no_fault(parse("{\"event\":\"end\",\"passed\":1,\"flaky\":0,\"failed\":0,\"error\":0,"
                          "\"updated\":0,\"not_run\":0,\"ns\":7,\"exit\":5}",
                          &root, &fault),
                    &fault);
    assert_int_equal(batch_summary_read(&root, &summary), -1);
    assert_fault(&fault, FAULT_INVALID_PARAMS, "/exit", "exit: 5 given; must be 0 to 4", "exit");
    json_free(&root);
}

/* Sums the times of predicted cases only, and keeps them in JSON. */
static void test_predictions(void **state)
{
    const struct case_result predicted = {.predicted_ns = 70, .transfers_ns = 5};
    const struct case_result unknown = {.transfers_ns = 9};
    struct batch_summary summary = {0}, got;
    struct case_result result = results_make("a", CASE_PASSED);
    struct fault fault;
    struct json root;
    struct jsonw w;

    (void)state;
    batch_summary_add(&summary, &predicted);
    batch_summary_add(&summary, &predicted);
    batch_summary_add(&summary, &unknown);
    assert_int_equal(summary.count[CASE_PASSED], 3);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    batch_summary_write(&w, &summary);
    jsonw_object_end(&w);
    assert_non_null(
        strstr(jsonw_text(&w), "\"predicted\":2,\"predicted_ns\":140,\"transfers_ns\":10"));
    assert_no_fault(parse(jsonw_text(&w), &root, &fault), &fault);
    assert_no_fault(batch_summary_read(&root, &got), &fault);
    assert_memory_equal(&got, &summary, sizeof(got));
    json_free(&root);
    jsonw_finish(&w);
    result.predicted_ns = 70;
    result.transfers_ns = 5;
    write_result(&w, &result, false);
    assert_non_null(strstr(jsonw_text(&w), "\"predicted_ns\":70,\"transfers_ns\":5"));
    jsonw_finish(&w);
    case_result_finish(&result);
}

static void test_exit(void **state)
{
    struct batch_summary good = {.count = {[CASE_PASSED] = 2, [CASE_RAN] = 1}}, flaky = good,
                         failed = good, left = good;

    (void)state;
    flaky.count[CASE_FLAKY] = 1;
    failed.count[CASE_UPDATED] = 1;
    left.not_run = 1;
    assert_int_equal(batch_summary_exit(&good, false), EXIT_CODE_DONE);
    assert_int_equal(batch_summary_exit(&flaky, true), EXIT_CODE_DONE);
    assert_int_equal(batch_summary_exit(&flaky, false), EXIT_CODE_FAILED);
    assert_int_equal(batch_summary_exit(&failed, true), EXIT_CODE_FAILED);
    assert_int_equal(batch_summary_exit(&left, true), EXIT_CODE_FAILED);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passed),      cmocka_unit_test(test_failed),
        cmocka_unit_test(test_basis),       cmocka_unit_test(test_words),
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_strict),
        cmocka_unit_test(test_outline),     cmocka_unit_test(test_summary),
        cmocka_unit_test(test_predictions), cmocka_unit_test(test_exit),
    };

    return cmocka_run_group_tests_name("batch result", tests, NULL, NULL);
}
