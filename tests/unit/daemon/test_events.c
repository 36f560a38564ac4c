/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests events.subscribe: the events that subscribers get, and the events that slow readers lose.
 */
#include <string.h>
#include <unistd.h>

#include "proto/wire/events.h"
#include "tests/unit/daemon/scene.h"

static int setup(void **state)
{
    scene_setup(state);
    scene_start_gated();
    return 0;
}

static void subscribe(struct peer *who, const char *params)
{
    peer_send(who, NULL, 0, "{'jsonrpc':'2.0','id':1,'method':'events.subscribe','params':{%s}}",
              params);
    peer_ok(who, 1);
}

/* Checks that the next line is an event of this kind. The event stays valid until the next call. */
static const struct event *event_of(struct peer *who, enum event_kind kind)
{
    static struct event event;
    struct rpc_reply reply;

    peer_reply(who, &reply);
    assert_int_equal(reply.notification, RPC_EVENT);
    if (event_read(&reply.params, &event) < 0)
        fail_msg("no event: %s", reply.fault.text);
    assert_int_equal(event.kind, kind);
    rpc_reply_finish(&reply);
    return &event;
}

static void test_life_of_a_job(void **state)
{
    const struct event *event;
    uint64_t queued, started;

    (void)state;
    subscribe(&peer, "");
    peer_submit(&peer, 2, src, dst, COPY ",'name':'n','priority':1");
    event = event_of(&peer, EVENT_QUEUED);
    queued = event->time_ns;
    assert_int_equal(event->job.state, JOB_STATE_QUEUED);
    assert_int_equal(event->job.first_channel, -1);
    assert_int_equal(event->job.ns_queued, 0);
    assert_string_equal(event->job.name, "n");
    event = event_of(&peer, EVENT_STARTED);
    started = event->time_ns;
    assert_int_equal(event->job.state, JOB_STATE_RUNNING);
    assert_int_equal(event->job.bytes, 4);
    assert_int_equal(event->job.bytes_done, 0);
    assert_int_equal(event->job.ns_moving, 0);
    assert_int_equal(event->job.ns_queued, started - queued);
    gate_wait(&gate);
    gate_release(&gate);
    event = event_of(&peer, EVENT_DONE);
    assert_int_equal(event->job.state, JOB_STATE_DONE);
    assert_int_equal(event->job.bytes_done, 4);
    assert_int_equal(event->job.ns_moving, event->time_ns - started);
    assert_int_equal(event->dropped, 0);
    peer_ok(&peer, 2); /* the reply comes after the event of the same request */
}

static void test_events_of_failed_jobs(void **state)
{
    const struct event *event;

    (void)state;
    subscribe(&peer, "'events':['done']");
    peer_submit(&peer, 2, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 3, src, dst, COPY ",'after':[1]");
    peer_submit(&peer, 4, src, dst, COPY ",'after':[2]");
    peer_expect_alive(&peer); /* the service has accepted both jobs */
    peer_send(&other, NULL, 0, "{'jsonrpc':'2.0','id':1,'method':'job.cancel','params':{'job':2}}");
    peer_ok(&other, 1);
    event = event_of(&peer, EVENT_DONE);
    assert_int_equal(event->job.job, 2);
    assert_int_equal(event->job.state, JOB_STATE_CANCELLED);
    assert_int_equal(event->job.error->code, FAULT_CANCELLED);
    peer_error(&peer, 3, FAULT_CANCELLED);
    event = event_of(&peer, EVENT_DONE);
    assert_int_equal(event->job.state, JOB_STATE_FAILED);
    assert_int_equal(event->job.error->code, FAULT_PREDECESSOR_FAILED);
    assert_string_equal(event->job.error->text, "after[0]: job 2 was cancelled");
    peer_error(&peer, 4, FAULT_PREDECESSOR_FAILED);
}

static void test_scopes(void **state)
{
    (void)state;
    subscribe(&peer, "'events':['queued']");
    peer_submit(&other, 2, src, dst, COPY);
    gate_wait(&gate);
    peer_expect_alive(&peer); /* no event of the other connection's job comes before the pong */
    subscribe(&peer, "'events':['queued'],'scope':'user'");
    peer_submit(&other, 3, src, dst, COPY);
    assert_int_equal(event_of(&peer, EVENT_QUEUED)->job.client, 2);
    subscribe(&peer, "'events':['queued'],'scope':'all'");
    peer_submit(&other, 4, src, dst, COPY ",'detach':true");
    assert_true(event_of(&peer, EVENT_QUEUED)->job.detached);
    subscribe(&peer, "'events':[]");
    peer_submit(&peer, 5, src, dst, COPY);
    peer_expect_alive(&peer);
}

static void test_progress(void **state)
{
    const struct event *event;
    uint64_t first;

    (void)state;
    subscribe(&peer, "'events':['progress'],'interval_ms':20,'scope':'user'");
    peer_expect_alive(&peer); /* no job is running, so there is no event */
    peer_submit(&other, 2, src, dst, COPY);
    gate_wait(&gate);
    event = event_of(&peer, EVENT_PROGRESS);
    first = event->time_ns;
    assert_int_equal(event->job.state, JOB_STATE_RUNNING);
    assert_int_equal(event->job.bytes_done, 0);
    assert_true(event_of(&peer, EVENT_PROGRESS)->time_ns - first >= 15 * 1000 * 1000);
    subscribe(&other, "'events':['progress'],'interval_ms':60000");
    event_of(&peer, EVENT_PROGRESS);
    gate_release(&gate);
    peer_ok(&other, 2);
}

/* Events fill the socket and a part of the outbox; further events are dropped and counted. Replies
 * are not dropped. */
static void test_slow_subscriber(void **state)
{
    enum { JOBS = 4000, SETTLE = 100 };
    uint64_t seen = 0, dropped = 0;
    struct daemon_stats stats;
    struct rpc_reply reply;

    (void)state;
    subscribe(&peer, "'events':['queued','done'],'scope':'user'");
    peer_submit(&other, 0, src, dst, COPY);
    gate_wait(&gate);
    for (int i = 1; i <= JOBS; i++) {
        peer_submit(&other, i, src, dst, COPY ",'after':[1],'name':'job'");
        peer_send(&other, NULL, 0,
                  "{'jsonrpc':'2.0','id':-1,'method':'job.cancel','params':{'job':'job'}}");
        peer_error(&other, i, FAULT_CANCELLED);
        peer_ok(&other, -1);
    }
    peer_send(&other, NULL, 0, "{'jsonrpc':'2.0','id':9,'method':'daemon.stats'}");
    peer_reply(&other, &reply);
    assert_int_equal(daemon_stats_read(&reply.result, &stats), 0);
    rpc_reply_finish(&reply);
    assert_true(stats.events_dropped > 0);
    /* The next event after dropped events tells how many were dropped. */
    peer_send(&peer, NULL, 0, "{'jsonrpc':'2.0','id':5,'method':'daemon.ping'}");
    for (;;) {
        struct event event;

        peer_reply(&peer, &reply);
        if (reply.notification != RPC_EVENT)
            break;
        assert_int_equal(event_read(&reply.params, &event), 0);
        dropped += event.dropped;
        seen++;
        rpc_reply_finish(&reply);
    }
    assert_int_equal(reply.id.number, 5);
    rpc_reply_finish(&reply);
    assert_int_equal(seen + stats.events_dropped, 1 + 2 * JOBS);
    assert_true(dropped < stats.events_dropped); /* some events may have been sent meanwhile */
    gate_release(&gate);
    assert_int_equal(dropped + event_of(&peer, EVENT_DONE)->dropped, stats.events_dropped);
    peer_ok(&other, 0);
}

static void test_bad_params(void **state)
{
    static const char *const bad[] = {"'events':['ended']", "'scope':'mine'",
                                      "'interval_ms':19",   "'events':'done'",
                                      "'other':1",          "'interval_ms':60001"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        peer_send(&peer, NULL, 0,
                  "{'jsonrpc':'2.0','id':1,'method':'events.subscribe','params':{%s}}", bad[i]);
        peer_error(&peer, 1, FAULT_INVALID_PARAMS);
    }
}

/* A subscriber leaves while events are sent: its subscription ends. */
static void test_subscriber_leaves(void **state)
{
    (void)state;
    subscribe(&peer, "'events':['queued','started','progress','done'],'scope':'user',"
                     "'interval_ms':20");
    peer_submit(&other, 2, src, dst, COPY);
    gate_wait(&gate);
    peer_finish(&peer);
    server_connect(&server, &peer);
    peer_expect_alive(&peer);
    gate_release(&gate);
    peer_ok(&other, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_life_of_a_job, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_events_of_failed_jobs, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_scopes, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_progress, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_slow_subscriber, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_bad_params, setup, scene_teardown),
        cmocka_unit_test_setup_teardown(test_subscriber_leaves, setup, scene_teardown),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
