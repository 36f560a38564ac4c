/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "proto/wire/rpc.h"
#include "tests/support/proto_unit.h"

static const struct rpc_id id = {.kind = RPC_ID_INT, .number = 3};

/* Parses a written line without its newline. */
static void parse(struct jsonw *w, struct rpc_reply *reply)
{
    assert_non_null(jsonw_text(w));
    assert_int_equal(w->data[w->length - 1], '\n');
    assert_no_fault(rpc_reply_parse(w->data, w->length - 1, reply), &reply->fault);
}

static void test_error(void **state)
{
    struct rpc_reply reply;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    fault_set(&fault, FAULT_INVALID_PARAMS, "/cfg/offset/1", "a \"quoted\" sentence");
    rpc_write_error(&w, &id, &fault);
    assert_string_equal(jsonw_text(&w),
                        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"a "
                        "\\\"quoted\\\" sentence\",\"data\":{\"name\":\"INVALID_PARAMS\","
                        "\"pointer\":\"/cfg/offset/1\"}}}\n");
    parse(&w, &reply);
    assert_false(reply.ok);
    assert_int_equal(reply.id.number, 3);
    assert_fault(&reply.error, FAULT_INVALID_PARAMS, "/cfg/offset/1", "a \"quoted\" sentence",
                 "error");
    rpc_reply_finish(&reply);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static void test_refusal(void **state)
{
    struct rpc_reply reply;
    struct fault fault;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    fault_set_refused(&fault, MLI_STATUS_BAD_FUNC_CFG, "cfg: no good");
    rpc_write_error(&w, &id, &fault);
    assert_string_equal(jsonw_text(&w),
                        "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32000,\"message\":"
                        "\"cfg: no good\",\"data\":{\"name\":\"REFUSED\",\"status\":"
                        "\"MLI_STATUS_BAD_FUNC_CFG\",\"pointer\":\"/cfg\"}}}\n");
    parse(&w, &reply);
    assert_fault(&reply.error, FAULT_REFUSED, "/cfg", "cfg: no good", "refused");
    assert_int_equal(reply.error.status, MLI_STATUS_BAD_FUNC_CFG);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

/*
 * Tests all codes and all kinds of id: without a pointer, with the pointer of the root, and with a
 * long pointer.
 */
static void test_error_round_trips(void **state)
{
    static const enum fault_code codes[] = {
#define CODE(name, code, text) FAULT_##name,
        FAULT_TABLE(CODE)
#undef CODE
    };
    static const char *const pointers[] = {NULL, "", "/a~1b/\xc3\xa4"};
    static const struct rpc_id ids[] = {
        {.kind = RPC_ID_NULL},
        {.kind = RPC_ID_INT, .number = -5},
        {.kind = RPC_ID_STRING, .text = "a\"b\n\xc3\xa4"},
        {.kind = RPC_ID_STRING, .text = ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(codes) * COUNT_OF(pointers) * COUNT_OF(ids); i++) {
        const struct rpc_id *sent = &ids[i % COUNT_OF(ids)];
        const char *pointer = pointers[i / COUNT_OF(ids) % COUNT_OF(pointers)];
        enum fault_code code = codes[i / COUNT_OF(ids) / COUNT_OF(pointers)];
        struct rpc_reply reply;
        struct fault fault;
        struct jsonw w;

        jsonw_init(&w);
        fault_set(&fault, code, pointer, "%s", i % 2 ? "text" : "");
        rpc_write_error(&w, sent, &fault);
        parse(&w, &reply);
        assert_fault(&reply.error, code, pointer, fault.text, "round trip");
        assert_int_equal(reply.id.kind, sent->kind);
        assert_int_equal(reply.id.number, sent->number);
        assert_string_equal(reply.id.text, sent->text);
        rpc_reply_finish(&reply);
        jsonw_finish(&w);
    }
}

static void test_pong(void **state)
{
    struct rpc_reply reply;
    struct json pong;
    struct jsonw w;
    bool answer = false;

    (void)state;
    jsonw_init(&w);
    rpc_write_pong(&w, &id);
    assert_string_equal(jsonw_text(&w),
                        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"pong\":true}}\n");
    parse(&w, &reply);
    assert_true(reply.ok);
    pong = json_member(&reply.result, "pong");
    assert_int_equal(json_bool(&pong, &answer), 0);
    assert_true(answer);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static void test_job_result(void **state)
{
    struct job_result sent = {.job = 17,
                              .has_dst = true,
                              .dst = {.has_type = true,
                                      .type = MLI_EL_FX_8,
                                      .rank = 1,
                                      .shape = {6},
                                      .has_strides = true,
                                      .strides = {1}},
                              .bytes = UINT64_C(1) << 40,
                              .channels = 1,
                              .engine = "inline",
                              .ns_queued = 5,
                              .ns_moving = 6};
    struct job_result got;
    struct rpc_reply reply;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    rpc_write_job_result(&w, &id, &sent);
    parse(&w, &reply);
    assert_true(reply.ok);
    assert_no_fault(job_result_read(&reply.result, &got), &reply.fault);
    assert_true(got.job == 17 && got.has_dst);
    assert_int_equal(got.dst.type, MLI_EL_FX_8);
    assert_int_equal(got.dst.strides[0], 1);
    assert_true(got.bytes == sent.bytes);
    assert_string_equal(got.engine, "inline");
    assert_int_equal(got.ns_moving, 6);
    job_result_finish(&got);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static void test_info(void **state)
{
    const struct daemon_info sent = {.version = "0.1.0",
                                     .build = "0123456789abcdef",
                                     .protocol = 1,
                                     .phase = PHASE_DRAINING,
                                     .engine = "",
                                     .pid = UINT32_MAX,
                                     .uptime_ms = 2,
                                     .channels = 3,
                                     .channels_busy = 4,
                                     .channels_quarantined = 1,
                                     .channel_offset = 5,
                                     .clients = 6,
                                     .clients_max = 7,
                                     .jobs_queued = 8,
                                     .jobs_running = 9,
                                     .jobs_per_client_max = 10,
                                     .jobs_done = UINT64_C(1) << 52,
                                     .jobs_failed = 12,
                                     .bytes_moved = UINT64_MAX};
    struct daemon_info got;
    struct rpc_reply reply;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    rpc_write_info(&w, &id, &sent);
    assert_string_equal(
        jsonw_text(&w),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"version\":\"0.1.0\","
        "\"build\":\"0123456789abcdef\",\"protocol\":1,\"state\":\"draining\",\"engine\":\"\","
        "\"pid\":4294967295,\"uptime_ms\":2,\"channels\":3,\"channels_busy\":4,"
        "\"channels_quarantined\":1,\"channel_offset\":5,\"clients\":6,\"clients_max\":7,\"jobs_"
        "queued\":8,"
        "\"jobs_running\":9,\"jobs_per_client_max\":10,\"jobs_done\":4503599627370496,"
        "\"jobs_failed\":12,\"bytes_moved\":9007199254740991}}\n");
    parse(&w, &reply);
    assert_no_fault(daemon_info_read(&reply.result, &got), &reply.fault);
    assert_string_equal(got.version, sent.version);
    assert_string_equal(got.build, sent.build);
    assert_string_equal(got.engine, sent.engine);
    assert_true(got.phase == PHASE_DRAINING && got.protocol == 1);
    assert_true(got.pid == sent.pid && got.jobs_done == sent.jobs_done);
    assert_int_equal(got.jobs_per_client_max, 10);
    assert_true(got.bytes_moved == (UINT64_C(1) << 53) - 1);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static void test_bad_info(void **state)
{
#define INFO "{\"version\":\"1\",\"protocol\":1,\"state\":\"drained\",\"engine\":\"e\""
    static const struct bad cases[] = {
        {"[]", "", "an object is required, not an array"},
        {INFO "}", "/pid", "pid: missing, a whole number is required"},
        {INFO ",\"pid\":4294967296}", "/pid", "pid: 4294967296 given; must be 0 to 4294967295"},
        {"{\"version\":1}", "/version", "version: a string is required, not a number"},
        {"{\"versoin\":\"1\"}", "/version", "version: missing, a string is required"},
        {"{\"version\":\"1\",\"protocol\":1,\"state\":\"on\"}", "/state",
         "state: \"on\" is unknown; known: serving, draining, drained"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct daemon_info info;
        struct fault fault;
        struct json root;

        assert_no_fault(
            json_parse(cases[i].input, strlen(cases[i].input), &rpc_reply_limits, &root, &fault),
            &fault);
        assert_int_equal(daemon_info_read(&root, &info), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text, cases[i].input);
        json_free(&root);
    }
}

static void test_bad_replies(void **state)
{
#define REPLY(more) "{\"jsonrpc\":\"2.0\",\"id\":1" more "}"
#define ERROR(more) REPLY(",\"error\":{" more "}")
    static const struct bad cases[] = {
        {"[]", "", "an object is required, not an array"},
        {"{}", "/jsonrpc", "jsonrpc: missing, a string is required"},
        {"{\"jsonrpc\":\"2.0\",\"result\":1}", "/id", "id: a whole number or a string is required"},
        {REPLY(""), "", "either \"result\" or \"error\" is required"},
        {REPLY(",\"result\":1,\"error\":1"), "", "either \"result\" or \"error\" is required"},
        {REPLY(",\"result\":1,\"id\":1"), "/id", "id: given twice"},
        {REPLY(",\"result\":1,\"fds\":17"), "/fds", "fds: 17 given; must be 0 to 16"},
        {REPLY(",\"result\":1,\"inline\":[1073741825]"), "/inline/0",
         "inline[0]: 1073741825 given; must be 0 to 1073741824"},
        {"{\"jsonrpc\":\"2.0\",\"method\":1}", "/method",
         "method: a string is required, not a number"},
        {REPLY(",\"error\":1"), "/error", "error: an object is required, not a number"},
        {ERROR("\"code\":1"), "/error/message", "error.message: missing, a string is required"},
        {ERROR("\"code\":2147483648"), "/error/code",
         "error.code: 2147483648 given; must be -2147483648 to 2147483647"},
        {ERROR("\"code\":1,\"message\":\"m\",\"data\":[]"), "/error/data",
         "error.data: an object is required, not an array"},
        {ERROR("\"code\":1,\"message\":\"m\",\"data\":{\"status\":\"MLI_STATUS_OKAY\"}"),
         "/error/data/status",
         "error.data.status: \"MLI_STATUS_OKAY\" is unknown; did you mean \"MLI_STATUS_OK\"?"},
        {ERROR("\"code\":1,\"message\":\"m\",\"data\":{\"pointer\":1}"), "/error/data/pointer",
         "error.data.pointer: a string is required, not a number"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rpc_reply reply;

        assert_int_equal(rpc_reply_parse(cases[i].input, strlen(cases[i].input), &reply), -1);
        assert_fault(&reply.fault, FAULT_INVALID_PARAMS, cases[i].pointer, cases[i].text,
                     cases[i].input);
        rpc_reply_finish(&reply);
    }
}

/* A peer's message is cut, and control characters in it are replaced. */
static void test_hostile_error(void **state)
{
    static const char line[] = ERROR("\"code\":5,\"message\":\"\\u001b[31m\\nred\"");
    struct rpc_reply reply;

    (void)state;
    assert_no_fault(rpc_reply_parse(line, strlen(line), &reply), &reply.fault);
    assert_int_equal(reply.error.code, 5);
    assert_string_equal(reply.error.text, "?[31m?red");
    assert_string_equal(fault_name(reply.error.code), "UNKNOWN");
    rpc_reply_finish(&reply);
    assert_int_equal(rpc_reply_parse("nonsense", 8, &reply), -1);
    assert_int_equal(reply.fault.code, FAULT_PARSE_ERROR);
    rpc_reply_finish(&reply);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_error_round_trips),
        cmocka_unit_test(test_pong),
        cmocka_unit_test(test_job_result),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_bad_info),
        cmocka_unit_test(test_bad_replies),
        cmocka_unit_test(test_hostile_error),
    };

    return cmocka_run_group_tests_name("rpc_reply", tests, NULL, NULL);
}
