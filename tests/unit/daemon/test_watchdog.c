/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests limits of the watchdog from none to an hour, and how a channel leaves the service and
 * returns. The gate is a device whose transfers end when the test releases them.
 */
#include <stdatomic.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "tests/unit/daemon/scene.h"

enum { HOUR_MS = 3600 * 1000 };

static void start_with(uint32_t limit_ms)
{
    server.config.watchdog.limit_ms = limit_ms;
    server.config.watchdog.quarantine_ms = 1;
    server.config.log_level = LOG_DEBUG; /* tests the logging of every event, too */
    scene_start_gated();
}

static int teardown(void **state)
{
    log_set_level(LOG_CRIT);
    return scene_teardown(state);
}

/* Starts with a limit under which a transfer may take 100 ms. */
static void is_patient(uint32_t limit_ms)
{
    start_with(limit_ms);
    peer_submit(&peer, 1, src, dst, COPY ",'name':'slow'");
    gate_wait(&gate);
    usleep(100 * 1000);
    gate_release(&gate);
    peer_ok(&peer, 1);
    assert_file(dst, "abcd", 4);
}

static void test_no_limit(void **state)
{
    (void)state;
    is_patient(0);
}

static void test_an_hour(void **state)
{
    (void)state;
    is_patient(HOUR_MS);
}

/* Submits a job. Returns true if it is done, and false if it is refused because all channels are
 * stuck. */
static bool is_done(int id)
{
    struct rpc_reply reply;
    bool done;

    peer_submit(&peer, id, src, dst, COPY);
    peer_reply(&peer, &reply);
    done = reply.ok;
    if (!done)
        assert_int_equal(reply.error.code, FAULT_CHANNEL_STUCK);
    rpc_reply_finish(&reply);
    return done;
}

/* A stuck channel leaves the service, and returns after its transfer has ended. */
static void test_a_stuck_channel_comes_back(void **state)
{
    (void)state;
    start_with(50);
    peer_submit(&peer, 1, src, dst, COPY ",'name':'stuck'");
    gate_wait(&gate);
    peer_error(&peer, 1, FAULT_CHANNEL_STUCK);
    peer_submit(&peer, 2, src, dst, COPY);
    peer_error(&peer, 2, FAULT_CHANNEL_STUCK); /* the stuck channel was the only one */
    gate_open(&gate);
    while (!is_done(3))
        ;
    assert_file(dst, "abcd", 4);
}

/* The log of a shutdown has the number of jobs that the shutdown ended. */
static void test_shutdown_with_queued_jobs(void **state)
{
    (void)state;
    start_with(0);
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    for (int id = 2; id < 6; id++)
        peer_submit(&other, id, src, dst, COPY);
    peer_expect_alive(&other);
    server_shutdown(&server);
    gate_open(&gate);
    server_join(&server);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, scene_setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_limit),
        TEST(test_an_hour),
        TEST(test_a_stuck_channel_comes_back),
        TEST(test_shutdown_with_queued_jobs),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
