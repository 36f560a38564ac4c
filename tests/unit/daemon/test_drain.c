/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the greeting, daemon.drain, daemon.resume and quotas. */
#include <string.h>
#include <unistd.h>

#include "proto/wire/events.h"
#include "tests/unit/daemon/scene.h"

static enum service_phase phase(struct peer *who, int id)
{
    enum service_phase phase;
    struct rpc_reply reply;
    struct json value;

    peer_reply(who, &reply);
    assert_true(reply.ok);
    assert_int_equal(reply.id.number, id);
    value = json_member(&reply.result, "state");
    assert_int_equal(service_phase_read(&value, &phase), 0);
    rpc_reply_finish(&reply);
    return phase;
}

static void test_greeting(void **state)
{
    struct hello hello;

    (void)state;
    server.config.jobs_per_client = 7;
    server.config.prepared_per_client = 9;
    scene_start_gated();
    hello = peer_hello(&peer);
    assert_int_equal(hello.protocol, PROTO_VERSION);
    assert_int_equal(hello.client, 1);
    assert_int_equal(hello.line, PROTO_LINE_MAX);
    assert_int_equal(hello.jobs, 7);
    assert_int_equal(hello.prepared, 9);
    assert_int_equal(hello.job_bytes, server.config.job_bytes);
    assert_int_equal(hello.buffer_bytes, server.config.buffer_bytes_per_client);
    assert_true(hello.capabilities >> CAPABILITY_events & 1);
    assert_int_equal(peer_hello(&other).client, 2);
    peer_expect_alive(&peer);
}

static void test_drain(void **state)
{
    (void)state;
    scene_start_gated();
    scene_call(&peer, 1, "daemon.drain", "");
    assert_int_equal(phase(&peer, 1), PHASE_DRAINED);
    peer_submit(&peer, 2, src, dst, COPY);
    assert_string_equal(peer_error(&peer, 2, FAULT_SHUTTING_DOWN)->text,
                        "the service is drained and takes no new jobs");
    scene_call(&peer, 3, "daemon.resume", "");
    assert_int_equal(phase(&peer, 3), PHASE_SERVING);
    peer_submit(&peer, 4, src, dst, COPY);
    gate_wait(&gate);
    scene_call(&peer, 5, "daemon.drain", "");
    scene_call(&other, 6, "daemon.drain", "'wait':true");
    scene_call(&other, 7, "daemon.drain", "'wait':false");
    assert_int_equal(phase(&other, 7), PHASE_DRAINING);
    assert_int_equal(peer_info(&other).phase, PHASE_DRAINING);
    gate_release(&gate);
    peer_ok(&peer, 4);
    assert_int_equal(phase(&peer, 5), PHASE_DRAINED);
    assert_int_equal(phase(&other, 6), PHASE_DRAINED);
    assert_int_equal(peer_info(&other).phase, PHASE_DRAINED);
}

/* daemon.resume answers the drains that wait. The drain of a closed connection is dropped. */
static void test_resume_in_the_middle(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    scene_call(&peer, 2, "daemon.drain", "");
    scene_call(&other, 3, "daemon.drain", "");
    peer_expect_alive(&other);
    peer_finish(&other);
    server_connect(&server, &other);
    scene_call(&other, 4, "daemon.resume", "");
    assert_int_equal(phase(&other, 4), PHASE_SERVING);
    assert_int_equal(phase(&peer, 2), PHASE_SERVING);
    gate_release(&gate);
    peer_ok(&peer, 1);
}

/* A submit that waits for room is refused if the service begins to drain meanwhile. */
static void test_drain_refuses_held_jobs(void **state)
{
    (void)state;
    server.config.jobs_per_client = 1;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY);
    peer_expect_alive(&other);
    scene_call(&other, 3, "daemon.drain", "'wait':false");
    assert_int_equal(phase(&other, 3), PHASE_DRAINING);
    peer_error(&peer, 2, FAULT_SHUTTING_DOWN);
    gate_release(&gate);
    peer_ok(&peer, 1);
}

/* Quotas count all connections of a user together. */
static void test_jobs_of_a_user(void **state)
{
    (void)state;
    server.config.quotas.standard.jobs = 2;
    server.config.quotas.standard.clients = 2;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY);
    peer_expect_alive(&peer);
    peer_submit(&other, 3, src, dst, COPY); /* this request and the next one wait in the socket */
    scene_call(&other, 4, "daemon.info", "");
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    gate_release(&gate);
    peer_ok(&peer, 1);
    peer_ok(&other, 4);
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(&peer, 2);
    peer_ok(&other, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_greeting),
        SCENE(test_drain),
        SCENE(test_resume_in_the_middle),
        SCENE(test_drain_refuses_held_jobs),
        SCENE(test_jobs_of_a_user),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
