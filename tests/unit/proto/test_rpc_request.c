/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/wire/job.h"
#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"
#include "tests/support/rpc_request.h"

#define CALL(more)  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"daemon.ping\"" more "}"
#define UNKNOWN_FDS UINT32_MAX

static void test_ping(void **state)
{
    static const char *const lines[] = {CALL(""), CALL(",\"params\":{}"), CALL(",\"fds\":0")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct rpc_request request;

        assert_no_fault(rpc_request_parse(lines[i], strlen(lines[i]), &request), &request.fault);
        assert_int_equal(request.method, RPC_DAEMON_PING);
        assert_int_equal(request.id.kind, RPC_ID_INT);
        assert_int_equal(request.id.number, 7);
        assert_int_equal(request.fds, 0);
        rpc_request_finish(&request);
        rpc_request_finish(&request);
    }
}

static void test_ids(void **state)
{
    static const char string[] = "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"daemon.info\"}";
    static const char negative[] = "{\"jsonrpc\":\"2.0\",\"id\":-9007199254740991,"
                                   "\"method\":\"daemon.info\"}";
    struct rpc_request request;

    (void)state;
    assert_no_fault(rpc_request_parse(string, strlen(string), &request), &request.fault);
    assert_int_equal(request.id.kind, RPC_ID_STRING);
    assert_string_equal(request.id.text, "");
    assert_int_equal(request.method, RPC_DAEMON_INFO);
    rpc_request_finish(&request);
    assert_no_fault(rpc_request_parse(negative, strlen(negative), &request), &request.fault);
    assert_true(request.id.number == INT64_C(-9007199254740991));
    rpc_request_finish(&request);
}

struct bad_line {
    const char *line;
    enum fault_code code;
    const char *pointer, *text;
    uint32_t fds;
    int id; /* 0: null */
};

static void check_bad(const struct bad_line *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rpc_request request;

        assert_int_equal(rpc_request_parse(cases[i].line, strlen(cases[i].line), &request), -1);
        assert_fault(&request.fault, cases[i].code, cases[i].pointer, cases[i].text, cases[i].line);
        assert_int_equal(request.fds, cases[i].fds);
        assert_int_equal(request.id.kind, cases[i].id ? RPC_ID_INT : RPC_ID_NULL);
        if (cases[i].id)
            assert_int_equal(request.id.number, cases[i].id);
        rpc_request_finish(&request);
    }
}

static void test_not_json(void **state)
{
    static const struct bad_line cases[] = {
        {"", FAULT_PARSE_ERROR, "", "the text ends where a value is expected", UNKNOWN_FDS, 0},
        {"{\"id\":1", FAULT_PARSE_ERROR, "", "the text ends where ',' or '}' is expected",
         UNKNOWN_FDS, 0},
        {"{\"id\":1.5}", FAULT_PARSE_ERROR, "/id",
         "1.5: a whole number is required, without fraction or exponent", UNKNOWN_FDS, 0},
        {CALL("") "x", FAULT_PARSE_ERROR, "", "the end of the text is expected, not 'x'",
         UNKNOWN_FDS, 0},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_fds(void **state)
{
    static const struct bad_line cases[] = {
        {CALL(",\"fds\":17"), FAULT_INVALID_REQUEST, "/fds", "fds: 17 given; must be 0 to 16",
         UNKNOWN_FDS, 0},
        {CALL(",\"fds\":-1"), FAULT_INVALID_REQUEST, "/fds", "fds: -1 given; must be 0 to 16",
         UNKNOWN_FDS, 0},
        {CALL(",\"fds\":\"1\""), FAULT_INVALID_REQUEST, "/fds",
         "fds: a whole number is required, not a string", UNKNOWN_FDS, 0},
        {CALL(",\"fds\":null"), FAULT_INVALID_REQUEST, "/fds",
         "fds: a whole number is required, not null", UNKNOWN_FDS, 0},
        {CALL(",\"fds\":1,\"fds\":1"), FAULT_INVALID_REQUEST, "/fds", "fds: given twice",
         UNKNOWN_FDS, 0},
        {CALL(",\"fds\":1,\"\\u0066ds\":2"), FAULT_INVALID_REQUEST, "/fds", "fds: given twice",
         UNKNOWN_FDS, 0},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_bad_envelope(void **state)
{
    static const struct bad_line cases[] = {
        {"[" CALL("") "]", FAULT_INVALID_REQUEST, "",
         "batches are not supported: send one request object per line", 0, 0},
        {"1", FAULT_INVALID_REQUEST, "", "a request object is required", 0, 0},
        {"null", FAULT_INVALID_REQUEST, "", "a request object is required", 0, 0},
        {"{}", FAULT_INVALID_REQUEST, "/id", "id: a whole number or a string is required", 0, 0},
        {"{\"jsonrpc\":\"2.0\",\"method\":\"daemon.ping\",\"fds\":3}", FAULT_INVALID_REQUEST, "/id",
         "id: a whole number or a string is required", 3, 0},
        {"{\"id\":null,\"fds\":2}", FAULT_INVALID_REQUEST, "/id",
         "id: a whole number or a string is required", 2, 0},
        {"{\"id\":7,\"method\":\"daemon.ping\"}", FAULT_INVALID_REQUEST, "/jsonrpc",
         "jsonrpc: missing, a string is required", 0, 7},
        {"{\"id\":7,\"jsonrpc\":\"1.0\"}", FAULT_INVALID_REQUEST, "/jsonrpc",
         "jsonrpc: \"2.0\" is required", 0, 7},
        {"{\"id\":7,\"jsonrpc\":2}", FAULT_INVALID_REQUEST, "/jsonrpc",
         "jsonrpc: a string is required, not a number", 0, 7},
        {"{\"id\":7,\"jsonrpc\":\"2.0\"}", FAULT_INVALID_REQUEST, "/method",
         "method: missing, a string is required", 0, 7},
        {"{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":3}", FAULT_INVALID_REQUEST, "/method",
         "method: a string is required, not a number", 0, 7},
        {"{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":\"daemon.pong\",\"fds\":1}",
         FAULT_METHOD_NOT_FOUND, "/method",
         "method: \"daemon.pong\" is unknown; did you mean \"daemon.ping\"?", 1, 7},
        {"{\"id\":7,\"jsonrpc\":\"2.0\",\"method\":\"x\"}", FAULT_METHOD_NOT_FOUND, "/method",
         "method: \"x\" is unknown; known: job.submit, job.prepare, job.start, job.release, "
         "job.wait, job.status, job.list, job.cancel, buffer.register, buffer.alloc, "
         "buffer.release, buffer.list, ...",
         0, 7},
        {CALL(",\"param\":{},\"fds\":5"), FAULT_INVALID_REQUEST, "/param",
         "param: unknown member; did you mean \"params\"?", 5, 7},
        {CALL(",\"id\":8"), FAULT_INVALID_REQUEST, "/id", "id: given twice", 0, 7},
        {CALL(",\"params\":[]"), FAULT_INVALID_REQUEST, "/params",
         "params: an object is required: parameters are passed by name", 0, 7},
        {CALL(",\"params\":null"), FAULT_INVALID_REQUEST, "/params",
         "params: an object is required: parameters are passed by name", 0, 7},
        {CALL(",\"params\":{\"a\":1}"), FAULT_INVALID_PARAMS, "/a", "a: unknown member", 0, 7},
        {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"job.submit\",\"fds\":2}", FAULT_INVALID_PARAMS,
         "/params", "params: missing; the job is required", 2, 7},
    };

    (void)state;
    check_bad(cases, COUNT_OF(cases));
}

static void test_long_id(void **state)
{
    char line[PROTO_NAME_MAX + 64] = "{\"fds\":1,\"id\":\"";
    struct rpc_request request;

    (void)state;
    memset(line + strlen(line), 'i', PROTO_NAME_MAX + 1);
    strcat(line, "\"}");
    assert_int_equal(rpc_request_parse(line, strlen(line), &request), -1);
    assert_fault(&request.fault, FAULT_INVALID_REQUEST, "/id",
                 "id: 129 bytes given; at most 128 are allowed", "a long id");
    assert_int_equal(request.id.kind, RPC_ID_NULL);
    assert_int_equal(request.fds, 1);
    rpc_request_finish(&request);
}

/* Finds the member "fds" after an invalid member whose value also contains "fds". */
static void test_hidden_members(void **state)
{
    static const char line[] = "{\"a\":{\"fds\":9},\"fds\":1,\"id\":7}";
    struct rpc_request request;

    (void)state;
    assert_int_equal(rpc_request_parse(line, strlen(line), &request), -1);
    assert_string_equal(request.fault.pointer, "/a");
    assert_int_equal(request.fds, 1);
    rpc_request_finish(&request);
}

static void test_submit_round_trip(void **state)
{
    static const char text[] = "{\"op\":\"mov\",\"cfg\":{\"size\":[1,2]},"
                               "\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[2,3]},"
                               "\"dst\":{\"fd\":1,\"offset\":128}}";
    struct rpc_request request;
    struct fault fault;
    struct json root;
    struct jsonw w;
    struct job job;

    (void)state;
    assert_no_fault(json_parse(text, strlen(text), &rpc_request_limits, &root, &fault), &fault);
    assert_no_fault(job_wire_read(&root, 2, &job), &fault);
    json_free(&root);
    jsonw_init(&w);
    rpc_request_begin(&w, 42, RPC_JOB_SUBMIT, 2);
    job_wire_write_members(&w, &job);
    rpc_request_end(&w);
    job_finish(&job);
    assert_string_equal(jsonw_text(&w),
                        "{\"jsonrpc\":\"2.0\",\"id\":42,\"method\":\"job.submit\",\"fds\":2,"
                        "\"params\":{\"op\":\"mov\",\"cfg\":{\"size\":[1,2]},"
                        "\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[2,3]},"
                        "\"dst\":{\"fd\":1,\"offset\":128}}}\n");
    assert_no_fault(rpc_request_parse(w.data, w.length - 1, &request), &request.fault);
    assert_int_equal(request.method, RPC_JOB_SUBMIT);
    assert_int_equal(request.fds, 2);
    assert_no_fault(job_wire_read(&request.params, request.fds, &job), &request.fault);
    assert_int_equal(job.common.lengths.size, 2);
    job_finish(&job);
    rpc_request_finish(&request);
    jsonw_finish(&w);
}

/* Pointers of faults in a job are relative to the job, not to the line. */
static void test_pointers_of_params(void **state)
{
    static const char line[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.submit\",\"fds\":2,\"params\":{\"op\":"
        "\"mov\",\"cfg\":{\"offset\":[0,-1]},\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[2,3]},"
        "\"dst\":{\"fd\":1}}}";
    struct rpc_request request;
    struct job job;

    (void)state;
    assert_no_fault(rpc_request_parse(line, strlen(line), &request), &request.fault);
    assert_int_equal(job_wire_read(&request.params, request.fds, &job), -1);
    assert_fault(&request.fault, FAULT_INVALID_PARAMS, "/cfg/offset/1",
                 "cfg.offset[1]: -1 given; must be 0 to 4294967295", "params");
    rpc_request_finish(&request);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ping),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_bad_fds),
        cmocka_unit_test(test_bad_envelope),
        cmocka_unit_test(test_long_id),
        cmocka_unit_test(test_hidden_members),
        cmocka_unit_test(test_submit_round_trip),
        cmocka_unit_test(test_pointers_of_params),
    };

    return cmocka_run_group_tests_name("rpc_request", tests, NULL, NULL);
}
