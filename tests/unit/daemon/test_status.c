/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests job.status, job.list and job.cancel: references to jobs, and their descriptions. */
#include <string.h>
#include <unistd.h>

#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "tests/unit/daemon/scene.h"

static void status(struct peer *who, const char *job, struct job_info *info)
{
    struct rpc_reply reply;
    char params[64];

    snprintf(params, sizeof params, "'job':%s", job);
    scene_call(who, 99, "job.status", params);
    peer_reply(who, &reply);
    assert_true(reply.ok);
    assert_int_equal(job_info_read(&reply.result, info), 0);
    rpc_reply_finish(&reply);
}

static enum job_state cancel(struct peer *who, const char *job)
{
    struct rpc_reply reply;
    struct job_brief brief;
    char params[64];

    snprintf(params, sizeof params, "'job':%s", job);
    scene_call(who, 99, "job.cancel", params);
    peer_reply(who, &reply);
    assert_true(reply.ok);
    assert_int_equal(job_brief_read(&reply.result, &brief), 0);
    rpc_reply_finish(&reply);
    return brief.state;
}

/* Expects these numbers of jobs in daemon.stats. */
static void assert_counts(uint64_t waiting, uint64_t queued, uint64_t running)
{
    struct rpc_reply reply;
    struct daemon_stats stats;

    peer_send(&other, NULL, 0, "{'jsonrpc':'2.0','id':98,'method':'daemon.stats'}");
    peer_reply(&other, &reply);
    assert_true(reply.ok);
    assert_int_equal(daemon_stats_read(&reply.result, &stats), 0);
    assert_int_equal(stats.jobs.waiting, waiting);
    assert_int_equal(stats.jobs.queued[0] + stats.jobs.queued[1] + stats.jobs.queued[2], queued);
    assert_int_equal(stats.jobs.running, running);
    rpc_reply_finish(&reply);
}

static void test_stages(void **state)
{
    struct job_info info;

    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY ",'name':'a','priority':-1,'detach':true");
    peer_ok(&peer, 1);
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY ",'name':'a'");
    peer_submit(&peer, 3, src, dst, COPY ",'after':['a',1]");
    status(&peer, "1", &info);
    assert_int_equal(info.state, JOB_STATE_RUNNING);
    assert_int_equal(info.first_channel, 0);
    assert_int_equal(info.priority, -1);
    assert_true(info.detached && info.ns_moving > 0);
    status(&peer, "'a'", &info); /* the name means the latest job with that name */
    assert_int_equal(info.job, 2);
    assert_int_equal(info.state, JOB_STATE_QUEUED);
    assert_int_equal(info.first_channel, -1);
    assert_int_equal(info.ns_moving, 0);
    status(&other, "3", &info); /* the job of another connection of the same user */
    assert_int_equal(info.state, JOB_STATE_WAITING);
    assert_int_equal(info.client, 1);
    assert_int_equal(info.uid, getuid());
    assert_counts(1, 1, 1);
    gate_release(&gate);
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(&peer, 2);
    peer_ok(&peer, 3);
    status(&other, "3", &info);
    assert_int_equal(info.state, JOB_STATE_DONE);
    assert_counts(0, 0, 0);
    assert_int_equal(info.bytes_done, 4);
    assert_null(info.error);
    scene_call(&other, 99, "job.status", "'job':4");
    assert_string_equal(peer_error(&other, 99, FAULT_NOT_FOUND)->pointer, "/job");
    scene_call(&other, 99, "job.status", "'job':'a'");
    peer_error(&other, 99, FAULT_NOT_FOUND);
}

static void test_cancel_at_each_stage(void **state)
{
    struct job_info info;

    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY);
    peer_submit(&peer, 3, src, dst, COPY ",'after':[2]");
    peer_submit(&peer, 4, src, dst, COPY ",'after':[1]");
    peer_expect_alive(&peer);
    assert_int_equal(cancel(&other, "4"), JOB_STATE_CANCELLED);
    assert_string_equal(peer_error(&peer, 4, FAULT_CANCELLED)->text, "the job was cancelled");
    assert_int_equal(cancel(&other, "2"), JOB_STATE_CANCELLED);
    peer_error(&peer, 2, FAULT_CANCELLED);
    assert_string_equal(peer_error(&peer, 3, FAULT_PREDECESSOR_FAILED)->pointer, "/after/0");
    assert_int_equal(cancel(&other, "1"), JOB_STATE_RUNNING);
    assert_int_equal(cancel(&other, "1"), JOB_STATE_RUNNING);
    peer_expect_alive(&peer); /* the request of job 1 is not answered yet */
    gate_release(&gate);
    assert_string_equal(peer_error(&peer, 1, FAULT_CANCELLED)->text, "the job was cancelled");
    assert_int_equal(cancel(&other, "1"), JOB_STATE_CANCELLED);
    assert_int_equal(cancel(&other, "3"), JOB_STATE_FAILED);
    assert_file(dst, "\0\0\0\0", 4);
    status(&peer, "3", &info);
    assert_int_equal(info.error->code, FAULT_PREDECESSOR_FAILED);
    peer_submit(&peer, 5, src, dst, COPY); /* the channel is free again */
    gate_release(&gate);
    peer_ok(&peer, 5);
    assert_int_equal(cancel(&other, "5"), JOB_STATE_DONE);
}

/* Thousands of jobs wait for one job: all of them start, or all fail. */
static void test_many_dependants(void **state)
{
    enum { JOBS = 4000 };

    (void)state;
    server.config.jobs = server.config.jobs_per_client = JOBS + 2;
    server.config.quotas.standard.jobs = JOBS + 2;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    for (int i = 1; i <= JOBS; i++)
        peer_submit(&peer, i, src, dst, COPY ",'after':[1]");
    while (peer_info(&other).jobs_queued < JOBS)
        ;
    assert_int_equal(cancel(&other, "1"), JOB_STATE_RUNNING);
    gate_release(&gate);
    peer_error(&peer, 0, FAULT_CANCELLED);
    for (int i = 1; i <= JOBS; i++)
        peer_error(&peer, i, FAULT_PREDECESSOR_FAILED);
    assert_int_equal(peer_info(&other).jobs_queued, 0);
}

/*
 * Each job waits for the job before it, and the first job fails: the service ends all of them
 * without recursion.
 */
static void test_long_chain(void **state)
{
    enum { JOBS = 5000 };
    char job[256];

    (void)state;
    server.config.jobs = server.config.jobs_per_client = JOBS + 2;
    server.config.quotas.standard.jobs = JOBS + 2;
    server.config.history = 8;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    for (int i = 1; i <= JOBS; i++) {
        snprintf(job, sizeof job, COPY ",'after':[%d]", i);
        peer_submit(&peer, i, src, dst, job);
    }
    while (peer_info(&other).jobs_queued < JOBS)
        ;
    assert_int_equal(cancel(&other, "2"), JOB_STATE_CANCELLED);
    peer_error(&peer, 1, FAULT_CANCELLED);
    for (int i = 2; i <= JOBS; i++)
        peer_error(&peer, i, FAULT_PREDECESSOR_FAILED);
    gate_release(&gate);
    peer_ok(&peer, 0);
}

/* Reads a page of job.list: the numbers of its jobs, and "more". Returns how many jobs it has. */
static size_t list(struct peer *who, const char *params, uint64_t *jobs, size_t max, bool *more)
{
    struct json array, item = {0}, flag;
    struct rpc_reply reply;
    size_t count = 0;

    scene_call(who, 99, "job.list", params);
    peer_reply(who, &reply);
    assert_true(reply.ok);
    array = json_member(&reply.result, "jobs");
    while (json_next(&array, &item)) {
        struct job_info info;

        assert_int_equal(job_info_read(&item, &info), 0);
        assert_true(count < max);
        jobs[count++] = info.job;
    }
    flag = json_member(&reply.result, "more");
    assert_int_equal(json_bool(&flag, more), 0);
    rpc_reply_finish(&reply);
    return count;
}

static void test_list(void **state)
{
    uint64_t jobs[1000];
    bool more;

    (void)state;
    scene_start_gated();
    assert_int_equal(list(&peer, "", jobs, 8, &more), 0);
    assert_false(more);
    peer_submit(&peer, 1, src, dst, COPY ",'name':'x'");
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY ",'after':[1],'name':'y'");
    peer_submit(&peer, 3, src, dst, COPY);
    peer_submit(&peer, 4, src, dst, COPY ",'priority':1");
    peer_expect_alive(&peer);
    cancel(&other, "4");
    peer_error(&peer, 4, FAULT_CANCELLED);
    /* Lists ended and unfinished jobs in one order. */
    assert_int_equal(list(&other, "", jobs, 8, &more), 4);
    assert_memory_equal(jobs, ((uint64_t[]){4, 3, 2, 1}), 4 * sizeof *jobs);
    assert_false(more);
    assert_int_equal(list(&other, "'limit':3", jobs, 8, &more), 3);
    assert_int_equal(jobs[2], 2);
    assert_true(more);
    assert_int_equal(list(&other, "'limit':3,'before':2", jobs, 8, &more), 1);
    assert_int_equal(jobs[0], 1);
    assert_false(more);
    assert_int_equal(list(&other, "'states':['waiting','cancelled']", jobs, 8, &more), 2);
    assert_int_equal(jobs[1], 2);
    assert_int_equal(list(&other, "'client':2", jobs, 8, &more), 0);
    assert_int_equal(list(&other, "'name':'y','client':1", jobs, 8, &more), 1);
    for (int i = 0; i < 3; i++)
        gate_release(&gate);
    for (int i = 0; i < 3; i++)
        peer_ok(&peer, -1);
}

/*
 * Lists pages of jobs with long names and errors: each page fits into a reply, and together the
 * pages have all jobs.
 */
static void test_pages(void **state)
{
    enum { JOBS = 1500, PAGE = 1000 };
    static uint64_t jobs[PAGE];
    char name[PROTO_NAME_MAX + 1], job[512];
    bool more;

    (void)state;
    server.config.history = JOBS + 1;
    server.config.jobs = server.config.jobs_per_client = JOBS + 1;
    server.config.quotas.standard.jobs = JOBS + 1;
    scene_start_gated();
    memset(name, 'n', PROTO_NAME_MAX);
    name[PROTO_NAME_MAX] = '\0';
    snprintf(job, sizeof job, COPY ",'name':'%s'", name);
    peer_submit(&peer, 0, src, dst, job);
    gate_wait(&gate);
    snprintf(job, sizeof job, COPY ",'name':'%s','after':['%s']", name, name);
    for (int i = 1; i <= JOBS; i++)
        peer_submit(&peer, i, src, dst, job);
    peer_expect_alive(&peer);
    cancel(&other, "2");
    for (int i = 1; i <= JOBS; i++) {
        struct rpc_reply reply;

        peer_reply(&peer, &reply);
        assert_false(reply.ok);
        rpc_reply_finish(&reply);
    }
    assert_int_equal(
        list(&other, "'limit':1000,'states':['failed','cancelled']", jobs, PAGE, &more), PAGE);
    assert_true(more);
    assert_int_equal(jobs[0], JOBS + 1);
    assert_int_equal(jobs[PAGE - 1], JOBS + 2 - PAGE);
    assert_int_equal(list(&other, "'limit':1000,'before':502", jobs, PAGE, &more), 501);
    assert_false(more);
    assert_int_equal(jobs[500], 1);
    gate_release(&gate);
    peer_ok(&peer, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_stages),     SCENE(test_cancel_at_each_stage),
        SCENE(test_long_chain), SCENE(test_many_dependants),
        SCENE(test_list),       SCENE(test_pages),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
