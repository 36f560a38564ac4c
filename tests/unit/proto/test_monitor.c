/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events, results and statistics: writing, reading and writing again must give the same text. Also
 * tests metrics and traces.
 */
#include <string.h>

#include "proto/wire/chrome_trace.h"
#include "proto/wire/events.h"
#include "proto/wire/methods.h"
#include "proto/wire/prometheus.h"
#include "proto/wire/rpc.h"
#include "tests/support/plain_json.h"
#include "tests/support/proto_unit.h"

static void parse(struct jsonw *w, struct rpc_reply *reply)
{
    assert_non_null(jsonw_text(w));
    assert_no_fault(rpc_reply_parse(w->data, w->length - 1, reply), &reply->fault);
}

static struct event make_event(enum event_kind kind, uint64_t time_ns, struct fault *error)
{
    return (struct event){.kind = kind,
                          .time_ns = time_ns,
                          .dropped = 3,
                          .job = {.job = 7,
                                  .name = "a",
                                  .state = error ? JOB_STATE_FAILED : JOB_STATE_RUNNING,
                                  .client = 2,
                                  .uid = 1000,
                                  .priority = -1,
                                  .channels = 2,
                                  .first_channel = kind == EVENT_QUEUED ? -1 : 1,
                                  .bytes = 6,
                                  .ns_queued = 1500,
                                  .ns_moving = kind == EVENT_DONE ? 2000 : 0,
                                  .error = error}};
}

static void test_event(void **state)
{
    struct fault error = {0};
    struct rpc_reply reply;
    struct jsonw w, again;

    (void)state;
    fault_set(&error, FAULT_DMA_ERROR, NULL, "bad \"row\"");
    for (int kind = 0; kind < EVENT_COUNT; kind++) {
        struct event sent = make_event((enum event_kind)kind, 99, kind == 3 ? &error : NULL), got;

        jsonw_init(&w);
        jsonw_init(&again);
        event_write_line(&w, &sent);
        parse(&w, &reply);
        assert_int_equal(reply.notification, RPC_EVENT);
        assert_no_fault(event_read(&reply.params, &got), &reply.fault);
        assert_int_equal(got.job.first_channel, kind == 0 ? -1 : 1);
        assert_true((got.job.error != NULL) == (kind == 3));
        event_write_line(&again, &got);
        assert_string_equal(jsonw_text(&again), w.data);
        rpc_reply_finish(&reply);
        jsonw_finish(&w);
        jsonw_finish(&again);
    }
}

static void test_hello(void **state)
{
    static const char other[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"news\",\"params\":{\"a\":1},\"more\":1}";
    const struct hello sent = {.version = "0.1.0", .client = 4, .jobs = 256, .job_bytes = 1};
    struct rpc_reply reply;
    struct hello got;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    hello_write_line(&w, &sent);
    assert_string_equal(
        jsonw_text(&w),
        "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":{\"protocol\":1,\"version\":"
        "\"0.1.0\",\"client\":4,\"capabilities\":[\"after\",\"buffers\",\"cancel\",\"detach\","
        "\"drain\",\"events\",\"prepared\"],\"limits\":{\"line\":65536,\"fds\":16,\"jobs\":256,"
        "\"job_bytes\":1,\"buffers\":0,\"buffer_bytes\":0,\"prepared\":0}}}\n");
    parse(&w, &reply);
    assert_int_equal(reply.notification, RPC_HELLO);
    assert_no_fault(hello_read(&reply.params, &got), &reply.fault);
    assert_true(got.protocol == 1 && got.client == 4 && got.line == 65536 && got.jobs == 256);
    assert_int_equal(got.capabilities, (1u << (CAPABILITY_prepared + 1)) - 1);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
    assert_no_fault(rpc_reply_parse(other, strlen(other), &reply), &reply.fault);
    assert_int_equal(reply.notification, RPC_OTHER_NOTIFICATION);
    rpc_reply_finish(&reply);
}

static const struct rpc_id id = {.kind = RPC_ID_INT, .number = 3};

static void test_results(void **state)
{
    const struct buffer_info buffer = {
        .buffer = 2, .size = 9, .access = BUFFER_ACCESS_READ, .sealed = true, .allocated = true};
    const struct job_brief brief = {.job = 5, .state = JOB_STATE_CANCELLED};
    struct buffer_info buffer_got;
    struct job_brief brief_got;
    struct fault fault = {0};
    struct rpc_reply reply;
    struct jsonw w;

    (void)state;
    jsonw_init(&w);
    rpc_result_begin(&w, &id, 1);
    buffer_info_write_members(&w, &buffer);
    job_brief_write_members(&w, &brief);
    rpc_result_end(&w);
    assert_string_equal(jsonw_text(&w),
                        "{\"jsonrpc\":\"2.0\",\"id\":3,\"fds\":1,\"result\":{\"buffer\":2,\"size\":"
                        "9,\"access\":\"read\",\"sealed\":true,\"job\":5,\"state\":\"cancelled\"}}"
                        "\n");
    parse(&w, &reply);
    assert_int_equal(reply.fds, 1);
    assert_no_fault(buffer_info_read(&reply.result, &buffer_got), &reply.fault);
    assert_true(buffer_got.buffer == 2 && buffer_got.sealed && buffer_got.access == buffer.access);
    assert_no_fault(job_brief_read(&reply.result, &brief_got), &reply.fault);
    assert_true(brief_got.job == 5 && brief_got.state == JOB_STATE_CANCELLED);
    rpc_reply_finish(&reply);
    jsonw_reset(&w);
    fault_set(&fault, FAULT_CANCELLED, NULL, "x");
    rpc_write_job_error(&w, &id, &fault, 12);
    parse(&w, &reply);
    assert_int_equal(reply.error_job, 12);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
}

static struct daemon_stats stats, stats_got;

static void fill_stats(void)
{
    stats = (struct daemon_stats){.phase = PHASE_DRAINED, .uptime_ms = 61523, .channel_count = 2};
    stats.jobs.queued[2] = 4;
    stats.channels[1] = (struct channel_stats){.channel = 1,
                                               .state = CHANNEL_BUSY,
                                               .busy_ns = 1500000001,
                                               .job = 8,
                                               .cpu_pieces = 3,
                                               .cpu_bytes = 4100};
    stats.user_count = stats.connection_count = 1;
    stats.users[0] = (struct user_stats){.uid = 1000, .bytes_moved = UINT64_C(1) << 40};
    stats.connections[0] = (struct connection_stats){.client = 1, .pid = 3};
    histogram_add(&stats.queued, 0);
    histogram_add(&stats.queued, 1023);
    histogram_add(&stats.queued, 1024);
    histogram_add(&stats.queued, UINT64_C(1024) << 22);
    histogram_add(&stats.queued, UINT64_MAX / 4);
}

static void test_stats(void **state)
{
    struct rpc_reply reply;
    struct jsonw w, again;

    (void)state;
    fill_stats();
    assert_int_equal(stats.queued.buckets[0], 2);
    assert_int_equal(stats.queued.buckets[1], 1);
    assert_int_equal(stats.queued.buckets[23], 2);
    jsonw_init(&w);
    jsonw_init(&again);
    rpc_result_begin(&w, &id, 0);
    daemon_stats_write_members(&w, &stats);
    rpc_result_end(&w);
    parse(&w, &reply);
    assert_no_fault(daemon_stats_read(&reply.result, &stats_got), &reply.fault);
    assert_int_equal(stats_got.channels[1].job, 8);
    assert_int_equal(stats_got.channels[0].cpu_pieces, 0);
    assert_int_equal(stats_got.channels[1].cpu_pieces, 3);
    assert_int_equal(stats_got.channels[1].cpu_bytes, 4100);
    rpc_result_begin(&again, &id, 0);
    daemon_stats_write_members(&again, &stats_got);
    rpc_result_end(&again);
    assert_string_equal(jsonw_text(&again), w.data);
    rpc_reply_finish(&reply);
    jsonw_finish(&w);
    jsonw_finish(&again);
}

static void test_prometheus(void **state)
{
    static const char *const lines[] = {
        "# TYPE mlid_state gauge\n",
        "\nmlid_state{state=\"drained\"} 1\n",
        "\nmlid_uptime_seconds 61.523000000\n",
        "\nmlid_jobs_queued{priority=\"high\"} 4\n",
        "\nmlid_job_queued_seconds_bucket{le=\"0.000001023\"} 2\n",
        "\nmlid_job_queued_seconds_bucket{le=\"0.000002047\"} 3\n",
        "\nmlid_job_queued_seconds_bucket{le=\"+Inf\"} 5\n",
        "\nmlid_job_queued_seconds_count 5\n",
        "\nmlid_channel_state{channel=\"1\",state=\"busy\"} 1\n",
        "\nmlid_channel_cpu_bytes_total{channel=\"1\"} 4100\n",
        "\nmlid_channel_busy_seconds_total{channel=\"1\"} 1.500000001\n",
        "\nmlid_user_moved_bytes_total{uid=\"1000\"} 1099511627776\n",
    };
    struct textw w;

    (void)state;
    fill_stats();
    textw_init(&w);
    prometheus_write(&w, &stats);
    assert_false(w.failed);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        if (!strstr(w.data, lines[i]))
            fail_msg("not there: %s", lines[i]);
    }
    assert_int_equal(w.data[w.length - 1], '\n');
    textw_finish(&w);
}

static double number(const struct plain *event, const char *key)
{
    const struct plain *value = plain_member(event, key);

    assert_true(value && value->kind == PLAIN_NUMBER);
    return value->number;
}

static const char *string(const struct plain *event, const char *key)
{
    const struct plain *value = plain_member(event, key);

    assert_true(value && value->kind == PLAIN_STRING);
    return value->string;
}

/* Checks the members that readers of the format require. */
static char check_event(const struct plain *event)
{
    const char *phase = string(event, "ph");

    assert_true(strlen(phase) == 1 && strchr("MXbeC", *phase));
    string(event, "name");
    assert_true(number(event, "pid") >= 1 && number(event, "tid") >= 0);
    if (*phase != 'M')
        assert_true(number(event, "ts") >= 0);
    if (*phase == 'X')
        assert_true(number(event, "dur") > 1.99 && number(event, "dur") < 2.01);
    if (*phase == 'b' || *phase == 'e') {
        string(event, "id");
        string(event, "cat");
    }
    return *phase;
}

static void test_trace(void **state)
{
    struct event queued = make_event(EVENT_QUEUED, 10000, NULL);
    struct event started = make_event(EVENT_STARTED, 11500, NULL);
    struct event done = make_event(EVENT_DONE, 13500, NULL);
    int seen[128] = {0};
    struct chrome_trace trace;

    struct plain *root;
    struct textw w;
    bool ignored;

    (void)state;
    /* names of jobs are sent by the service, so any text is possible */
    strcpy(started.job.name, "\"\\\n");
    textw_init(&w);
    chrome_trace_init(&trace);
    chrome_trace_begin(&trace, "mlid", &w);
    chrome_trace_event(&trace, &queued, &w);
    chrome_trace_event(&trace, &started, &w);
    chrome_trace_event(&trace, &done, &w);
    chrome_trace_event(&trace, &done, &w);
    chrome_trace_end(&trace, &w);
    assert_false(w.failed);
    root = plain_read(w.data, w.length, &ignored);
    assert_true(root && root->kind == PLAIN_ARRAY);
    for (const struct plain *event = root->child; event; event = event->next)
        seen[(unsigned char)check_event(event)]++;
    /* metadata of the processes, of a client, and of two channels */
    assert_int_equal(seen['M'], 4 + 1 + 2);
    assert_int_equal(seen['X'], 4);
    assert_int_equal(seen['b'], 1);
    assert_int_equal(seen['e'], 1);
    assert_int_equal(seen['C'], 4);
    assert_int_equal(trace.running, 0);
    plain_free(root);
    textw_finish(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event),      cmocka_unit_test(test_hello),
        cmocka_unit_test(test_results),    cmocka_unit_test(test_stats),
        cmocka_unit_test(test_prometheus), cmocka_unit_test(test_trace),
    };

    return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
