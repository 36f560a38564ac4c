/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests job.wait, with jobs and clients that end in various orders. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/job.h"
#include "tests/unit/daemon/costs.h"
#include "tests/unit/daemon/scene.h"

static void submit_detached(struct peer *who, int id, const char *more)
{
    char job[256];

    snprintf(job, sizeof job, COPY ",'detach':true%s", more);
    peer_submit(who, id, src, dst, job);
    peer_ok(who, id);
}

static void run_one(void)
{
    gate_wait(&gate);
    gate_release(&gate);
}

static uint64_t pop_list(struct peer *who, int id, uint64_t *jobs, size_t max)
{
    struct json list, item = {0};
    struct rpc_reply reply;
    uint64_t count = 0;

    peer_reply(who, &reply);
    assert_true(reply.ok);
    assert_int_equal(reply.id.number, id);
    list = json_member(&reply.result, "jobs");
    while (json_next(&list, &item)) {
        struct job_brief brief;

        assert_true(count < max);
        assert_int_equal(job_brief_read(&item, &brief), 0);
        assert_int_equal(brief.state, JOB_STATE_DONE);
        jobs[count++] = brief.job;
    }
    rpc_reply_finish(&reply);
    return count;
}

static void test_one_before_and_after_its_end(void **state)
{
    struct job_result result;

    (void)state;
    scene_start_gated();
    submit_detached(&peer, 1, ",'name':'a'");
    scene_call(&peer, 2, "job.wait", "'job':'a'");
    scene_call(&other, 2, "job.wait", "'job':1");
    run_one();
    peer_result(&peer, 2, &result);
    assert_int_equal(result.job, 1);
    assert_int_equal(result.bytes, 4);
    assert_true(result.has_dst);
    job_result_finish(&result);
    peer_result(&other, 2, &result);
    job_result_finish(&result);
    scene_call(&other, 3, "job.wait", "'job':1");
    peer_result(&other, 3, &result);
    assert_int_equal(result.job, 1);
    assert_int_equal(result.dst.shape[0], 4);
    job_result_finish(&result);
    scene_call(&other, 4, "job.wait", "'job':'a'"); /* job 'a' belongs to another connection */
    assert_string_equal(peer_error(&other, 4, FAULT_NOT_FOUND)->pointer, "/job");
}

static void test_several(void **state)
{
    uint64_t jobs[8];

    (void)state;
    scene_start_gated();
    for (int i = 1; i <= 3; i++)
        submit_detached(&peer, i, "");
    scene_call(&peer, 9, "job.wait", "'jobs':[3,1,3,2]");
    for (int i = 0; i < 3; i++)
        run_one();
    assert_int_equal(pop_list(&peer, 9, jobs, 8), 4);
    assert_memory_equal(jobs, ((uint64_t[]){3, 1, 3, 2}), 4 * sizeof *jobs);
    scene_call(&peer, 10, "job.wait", "'jobs':[2,9]");
    assert_string_equal(peer_error(&peer, 10, FAULT_NOT_FOUND)->text,
                        "jobs[1]: there is no job 9; it may have been forgotten");
}

/* The error is that of the first failed job in the list; it comes when all jobs have ended. */
static void test_several_with_failures(void **state)
{
    struct rpc_reply reply;

    (void)state;
    scene_start_gated();
    submit_detached(&peer, 1, "");
    gate_wait(&gate);
    submit_detached(&peer, 2, "");
    submit_detached(&peer, 3, ",'after':[2]");
    scene_call(&other, 9, "job.wait", "'jobs':[1,3,2]");
    scene_call(&peer, 4, "job.cancel", "'job':2");
    peer_ok(&peer, 4);
    peer_expect_alive(&other); /* job 1 is still running */
    gate_release(&gate);
    peer_reply(&other, &reply);
    assert_false(reply.ok);
    assert_int_equal(reply.error.code, FAULT_PREDECESSOR_FAILED);
    assert_int_equal(reply.error_job, 3);
    rpc_reply_finish(&reply);
    scene_call(&other, 10, "job.wait", "'job':2");
    peer_error(&other, 10, FAULT_CANCELLED);
    scene_call(&other, 11, "job.wait", "'jobs':[2,3]");
    peer_reply(&other, &reply);
    assert_int_equal(reply.error.code, FAULT_CANCELLED);
    assert_int_equal(reply.error_job, 2);
    rpc_reply_finish(&reply);
}

static void test_all(void **state)
{
    uint64_t jobs[8];

    (void)state;
    scene_start_gated();
    scene_call(&peer, 1, "job.wait", "'all':true");
    assert_int_equal(pop_list(&peer, 1, jobs, 8), 0);
    submit_detached(&peer, 2, "");
    submit_detached(&other, 2, "");
    peer_submit(&peer, 3, src, dst, COPY);
    scene_call(&peer, 4, "job.wait", "'all':true");
    peer_expect_alive(&peer);
    for (int i = 0; i < 3; i++)
        run_one();
    peer_ok(&peer, 3); /* the reply to job.submit comes first */
    assert_int_equal(pop_list(&peer, 4, jobs, 8), 2);
    assert_int_equal(jobs[0], 1);
    assert_int_equal(jobs[1], 3);
}

enum { FEW = 64, MANY = 16384 };

/* Queues jobs behind a job that is held at the gate. Their replies come after the gate has opened.
 */
static void queue_jobs(int count)
{
    server.config.jobs = server.config.jobs_per_client = (uint32_t)count;
    server.config.quotas.standard.jobs = (uint32_t)count;
    scene_start_gated();
    peer_send(&peer, (int[]){src, dst}, 2,
              "{'jsonrpc':'2.0','id':0,'method':'job.prepare','fds':2,'params':{" COPY "}}");
    peer_ok(&peer, 0);
    for (int i = 1; i <= count; i++)
        scene_call(&peer, i, "job.start",
                   i % 2 ? "'prepared':1" : "'prepared':1,'priority':1"); /* in another order */
    gate_wait(&gate);
    peer_expect_alive(&peer);
}

/* The reply lists the jobs in the order of their numbers, although they end in another one. */
static void test_all_of_many(void **state)
{
    static uint64_t jobs[MANY];

    (void)state;
    queue_jobs(MANY);
    scene_call(&peer, MANY + 1, "job.wait", "'all':true");
    peer_expect_alive(&peer);
    gate_open(&gate);
    for (int i = 0; i < MANY; i++)
        peer_ok(&peer, -1);
    assert_int_equal(pop_list(&peer, MANY + 1, jobs, MANY), MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(jobs[i], i + 1);
    peer_expect_alive(&peer);
}

/*
 * Sends a job.wait (call 1) and a ping after it. Returns the time until the ping is answered. The
 * reply to job.wait may come first, because its timeout runs while the machine does other work.
 */
static double wait_and_ping(void)
{
    const uint64_t begin = uv_hrtime();
    double took = 0;

    scene_call(&peer, 1, "job.wait", "'all':true,'timeout_ms':5");
    peer_send(&peer, NULL, 0, "{'jsonrpc':'2.0','id':2,'method':'daemon.ping'}");
    for (int i = 0; i < 2; i++) {
        struct rpc_reply reply;

        peer_reply(&peer, &reply);
        if (reply.id.number == 2)
            took = (double)(uv_hrtime() - begin);
        else
            assert_int_equal(reply.error.code, FAULT_TIMED_OUT);
        rpc_reply_finish(&reply);
    }
    return took;
}

/*
 * Returns the time until a ping that follows a job.wait for `count` jobs is answered. The waits end
 * by their timeouts.
 */
static double wait_cost(int count)
{
    double best = 0;

    scene_setup(NULL);
    queue_jobs(count);
    for (int i = 0; i < 15; i++) {
        const double took = wait_and_ping();

        if (best == 0 || took < best)
            best = took;
    }
    scene_teardown(NULL);
    return best;
}

static void test_cost_of_all(void **state)
{
    double few, many;

    (void)state;
    few = wait_cost(FEW);
    many = wait_cost(MANY);
    print_message("job.wait of %d jobs takes %.0f us, of %d jobs %.0f us\n", FEW, few / 1000, MANY,
                  many / 1000);
    assert_true(many < few * COST_RATIO_MAX / 2);
}

static void test_timeouts(void **state)
{
    (void)state;
    scene_start_gated();
    submit_detached(&peer, 1, "");
    gate_wait(&gate);
    submit_detached(&peer, 2, "");
    scene_call(&peer, 3, "job.wait", "'job':1,'timeout_ms':10");
    assert_string_equal(peer_error(&peer, 3, FAULT_TIMED_OUT)->text,
                        "timeout_ms: job 1 is still running after 10 ms");
    scene_call(&peer, 4, "job.wait", "'jobs':[1,2],'timeout_ms':10");
    assert_string_equal(peer_error(&peer, 4, FAULT_TIMED_OUT)->text,
                        "timeout_ms: 2 of 2 jobs have not ended after 10 ms");
    scene_call(&peer, 5, "job.wait",
               "'jobs':[1,2],'timeout_ms':86400000"); /* the timer is running at the end */
    gate_release(&gate);
    run_one();
    peer_ok(&peer, 5);
}

static void test_limit_of_waits(void **state)
{
    (void)state;
    scene_start_gated();
    submit_detached(&peer, 1, "");
    for (int i = 0; i < PROTO_WAITS_MAX; i++)
        scene_call(&peer, 100 + i, "job.wait", i % 2 ? "'job':1" : "'job':1,'timeout_ms':60000");
    scene_call(&peer, 2, "job.wait", "'job':1");
    peer_error(&peer, 2, FAULT_LIMIT);
    run_one();
    for (int i = 0; i < PROTO_WAITS_MAX; i++)
        peer_ok(&peer, 100 + i);
    scene_call(&peer, 3, "job.wait", "'job':1");
    peer_ok(&peer, 3);
}

/* Although the client shuts down its sending side, the connection stays open for the reply. */
static void test_half_closed(void **state)
{
    (void)state;
    scene_start_gated();
    submit_detached(&other, 1, "");
    scene_call(&peer, 2, "job.wait", "'job':1");
    peer_send(&peer, NULL, 0, "{'jsonrpc':'2.0','id':3,'method':'daemon.ping'}");
    shutdown(peer.fd, SHUT_WR);
    peer_ok(&peer, 3);
    run_one();
    peer_ok(&peer, 2);
    peer_expect_end(&peer);
}

/* The waiting client leaves before and while the job ends; then the submitting client leaves. */
static void test_connections_close(void **state)
{
    (void)state;
    scene_start_gated();
    submit_detached(&other, 1, "");
    scene_call(&peer, 2, "job.wait", "'jobs':[1,1],'timeout_ms':60000");
    peer_expect_alive(&peer);
    peer_finish(&peer);
    server_connect(&server, &peer);
    scene_call(&peer, 3, "job.wait", "'job':1");
    peer_expect_alive(&peer);
    gate_wait(&gate);
    gate_release(&gate);
    peer_finish(&peer);
    server_connect(&server, &peer);
    peer_submit(&other, 4, src, dst, COPY);
    gate_wait(&gate);
    scene_call(&peer, 5, "job.wait", "'job':2");
    peer_expect_alive(&peer);
    peer_finish(&other);
    server_connect(&server, &other);
    while (peer_info(&other).clients > 2)
        ;
    gate_release(&gate);
    peer_error(&peer, 5, FAULT_CANCELLED);
}

static void test_without_history(void **state)
{
    (void)state;
    server.config.history = 0;
    scene_start_gated();
    submit_detached(&peer, 1, "");
    scene_call(&peer, 2, "job.wait", "'job':1");
    peer_expect_alive(&peer); /* the service has received job.wait, so job 1 will not be kept */
    run_one();
    peer_ok(&peer, 2);
    scene_call(&peer, 3, "job.wait", "'job':1");
    peer_error(&peer, 3, FAULT_NOT_FOUND);
    scene_call(&peer, 4, "job.status", "'job':1");
    peer_error(&peer, 4, FAULT_NOT_FOUND);
}

static void test_shutdown_answers(void **state)
{
    (void)state;
    scene_start_gated();
    submit_detached(&peer, 1, "");
    gate_wait(&gate);
    submit_detached(&peer, 2, "");
    scene_call(&other, 3, "job.wait", "'job':1");
    scene_call(&other, 4, "job.wait", "'job':2");
    scene_call(&other, 5, "daemon.drain", "");
    peer_expect_alive(&other);
    server_shutdown(&server);
    peer_error(&other, 4, FAULT_SHUTTING_DOWN);
    gate_release(&gate);
    peer_ok(&other, 3);
    peer_ok(&other, 5);
    peer_expect_end(&other);
}

static void test_bad_params(void **state)
{
    static const char *const bad[] = {
        "",          "'job':0",      "'job':1,'all':true",         "'all':false",
        "'jobs':[]", "'jobs':['7']", "'jobs':[1],'timeout_ms':-1", "'job':1,'timeout_ms':86400001"};

    (void)state;
    scene_start_gated();
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        scene_call(&peer, 1, "job.wait", bad[i]);
        peer_error(&peer, 1, FAULT_INVALID_PARAMS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_one_before_and_after_its_end),
        SCENE(test_several),
        SCENE(test_several_with_failures),
        SCENE(test_all),
        SCENE(test_all_of_many),
        cmocka_unit_test(test_cost_of_all),
        SCENE(test_timeouts),
        SCENE(test_limit_of_waits),
        SCENE(test_half_closed),
        SCENE(test_connections_close),
        SCENE(test_without_history),
        SCENE(test_shutdown_answers),
        SCENE(test_bad_params),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
