/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of jobs depend on one job. The service settles them in slices, and serves clients
 * between two slices.
 */
#include <unistd.h>

#include "proto/wire/methods.h"
#include "tests/unit/daemon/scene.h"

enum { DEPENDENTS = 10000, ATTEMPTS = 20, JOBS = 16384 };

static struct peer many;

static int setup(void **state)
{
    scene_setup(state);
    server.config.jobs = server.config.jobs_per_client = JOBS;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    return 0;
}

static void connect_many(void)
{
    const int fds[] = {src, dst};

    server_connect(&server, &many);
    peer_send(&many, fds, 2,
              "{'jsonrpc':'2.0','id':0,'method':'job.prepare','fds':2,'params':{" COPY "}}");
    peer_ok(&many, 0);
}

static void depend(uint64_t job, int count)
{
    char params[64];

    snprintf(params, sizeof params, "'prepared':1,'after':[%llu]", (unsigned long long)job);
    for (int i = 1; i <= count; i++)
        scene_call(&many, i, "job.start", params);
    peer_send(&many, NULL, 0, "{'jsonrpc':'2.0','id':%d,'method':'daemon.ping'}", count + 1);
    peer_ok(&many, count + 1);
}

static struct daemon_stats stats(void)
{
    struct daemon_stats stats;
    struct rpc_reply reply;

    peer_send(&other, NULL, 0, "{'jsonrpc':'2.0','id':9,'method':'daemon.stats'}");
    peer_reply(&other, &reply);
    assert_true(reply.ok);
    assert_int_equal(daemon_stats_read(&reply.result, &stats), 0);
    rpc_reply_finish(&reply);
    return stats;
}

/* Returns whether another client sees the number of waiting jobs fall in several steps. */
static bool waiting_falls_in_steps(void)
{
    uint32_t waiting;
    int steps = 0;

    do {
        waiting = stats().jobs.waiting;
        steps += waiting > 0 && waiting < DEPENDENTS;
    } while (waiting > 0);
    return steps > 1;
}

static void finish_many(void)
{
    peer_finish(&many);
    while (peer_info(&other).clients > 2 || peer_info(&other).jobs_queued > 0)
        usleep(1000);
}

/* In each attempt, the dependents wait for the job that the gate holds. */
static void test_dependents_are_queued_in_slices(void **state)
{
    bool in_steps = false;

    (void)state;
    for (int i = 0; i < ATTEMPTS && !in_steps; i++) {
        connect_many();
        depend(1 + (uint64_t)i * (DEPENDENTS + 1), DEPENDENTS);
        gate_release(&gate);
        peer_ok(&peer, 1);
        in_steps = waiting_falls_in_steps();
        finish_many();
        gate_release(&gate);
        peer_submit(&peer, 1, src, dst, COPY);
        gate_wait(&gate);
    }
    assert_true(in_steps);
}

static void test_dependents_fail_in_slices(void **state)
{
    (void)state;
    connect_many();
    depend(1, DEPENDENTS);
    scene_call(&other, 2, "job.cancel", "'job':1");
    peer_ok(&other, 2);
    gate_release(&gate);
    while (stats().jobs.waiting > 0)
        usleep(1000);
    for (int i = 1; i <= DEPENDENTS; i++)
        peer_error(&many, i, FAULT_PREDECESSOR_FAILED);
    peer_finish(&many);
}

/*
 * A client leaves between two slices. Jobs of another client, which come next in the queue, start
 * in order.
 */
static void test_client_leaves_between_slices(void **state)
{
    enum { OTHERS = 50 };

    (void)state;
    connect_many();
    depend(1, DEPENDENTS);
    for (int i = 0; i < OTHERS; i++)
        peer_submit(&other, 100 + i, src, dst, COPY ",'after':[1]");
    peer_expect_alive(&other);
    gate_release(&gate);
    peer_finish(&many);
    gate_open(&gate); /* some jobs of the client may start before it has left */
    for (int i = 0; i < OTHERS; i++)
        peer_ok(&other, 100 + i);
}

static void test_cancel_between_slices(void **state)
{
    (void)state;
    connect_many();
    depend(1, DEPENDENTS);
    gate_release(&gate);
    for (int i = 0; i < 100; i++) {
        char params[32];

        snprintf(params, sizeof params, "'job':%d", DEPENDENTS + 1 - i);
        scene_call(&other, 2, "job.cancel", params);
        peer_ok(&other, 2);
    }
    for (int i = 0; i < 100; i++)
        peer_error(&many, DEPENDENTS - i, FAULT_CANCELLED);
    finish_many();
}

static void test_shutdown_between_slices(void **state)
{
    (void)state;
    connect_many();
    depend(1, DEPENDENTS);
    gate_release(&gate);
    server_shutdown(&server);
    peer_finish(&many);
}

#define AFTER(test) cmocka_unit_test_setup_teardown(test, setup, scene_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AFTER(test_dependents_are_queued_in_slices), AFTER(test_dependents_fail_in_slices),
        AFTER(test_client_leaves_between_slices),    AFTER(test_cancel_between_slices),
        AFTER(test_shutdown_between_slices),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
