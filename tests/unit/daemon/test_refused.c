/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests jobs that depend on refused, failed or ended jobs, also without memory for their records,
 * and trimming.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"
#include "daemon/job/history.h"
#include "tests/unit/daemon/scene.h"

#define REFUSED                                                                                    \
    "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1},'cfg':{'offset':[9]}"

enum { DEPENDENTS_CAUSE = 2 * PROTO_NAME_MAX }; /* size of the texts in struct dependents */

static atomic_size_t failing; /* allocations of this size fail; 0: none fails */

static void *failing_calloc(size_t count, size_t size)
{
    return count == 1 && size == atomic_load(&failing) ? NULL : calloc(count, size);
}

static int setup(void **state)
{
    atomic_store(&failing, 0);
    seam.calloc = failing_calloc;
    return scene_setup(state);
}

static int teardown(void **state)
{
    seam.calloc = calloc;
    return scene_teardown(state);
}

static void expect_cause(int id, const char *job, const char *text)
{
    char params[128];

    snprintf(params, sizeof params, COPY ",'after':['%s']", job);
    peer_submit(&peer, id, src, dst, params);
    assert_string_equal(peer_error(&peer, id, FAULT_PREDECESSOR_FAILED)->text, text);
}

static void test_after_ended_jobs(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, REFUSED ",'name':'refused'");
    peer_error(&peer, 1, FAULT_REFUSED);
    expect_cause(2, "refused", "after[0]: job 1 (refused) was refused");
    peer_submit(&peer, 3, src, dst, COPY ",'name':'held'");
    gate_wait(&gate);
    peer_submit(&peer, 4, src, dst, COPY ",'name':'late','timeout_ms':1");
    peer_error(&peer, 4, FAULT_TIMED_OUT);
    expect_cause(5, "late", "after[0]: job 3 (late) failed");
    gate_open(&gate);
    peer_ok(&peer, 3);
    peer_submit(&peer, 6, src, dst, COPY ",'after':['held']");
    peer_ok(&peer, 6);
}

/* The error of a timeout says whether the job was waiting, queued or running. */
static void test_timeout_of_a_waiting_job(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 2, src, dst, COPY ",'after':[1],'timeout_ms':1");
    assert_string_equal(peer_error(&peer, 2, FAULT_TIMED_OUT)->text,
                        "timeout_ms: the job was not done within 1 ms, it was still waiting for "
                        "other jobs");
    gate_open(&gate);
    peer_ok(&peer, 1);
}

/*
 * If a refused job has no record because memory ran out, its name does not mean an earlier job
 * either.
 */
static void test_no_memory_for_a_record(void **state)
{
    (void)state;
    scene_start();
    peer_submit(&peer, 1, src, dst, COPY ",'name':'tile'");
    peer_ok(&peer, 1);
    atomic_store(&failing, sizeof(struct record));
    peer_submit(&peer, 2, src, dst, REFUSED ",'name':'tile'");
    peer_error(&peer, 2, FAULT_REFUSED);
    atomic_store(&failing, 0);
    peer_submit(&peer, 3, src, dst, COPY ",'after':['tile']");
    peer_error(&peer, 3, FAULT_NOT_FOUND);
}

static void test_no_memory_for_dependents(void **state)
{
    (void)state;
    scene_start_gated();
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    atomic_store(&failing, 2 * sizeof(struct link) + DEPENDENTS_CAUSE);
    peer_submit(&peer, 2, src, dst, COPY ",'after':[1]");
    assert_string_equal(peer_error(&peer, 2, FAULT_INTERNAL)->text, "no memory for a job");
    atomic_store(&failing, 0);
    peer_submit(&peer, 3, src, dst, COPY ",'after':[1]");
    gate_open(&gate);
    peer_ok(&peer, 1);
    peer_ok(&peer, 3);
}

/* Returns the number of jobs that job.list knows. */
static size_t known(void)
{
    struct rpc_reply reply;
    struct json list;
    size_t count;

    scene_call(&peer, 99, "job.list", "'limit':1000");
    peer_reply(&peer, &reply);
    assert_true(reply.ok);
    list = json_member(&reply.result, "jobs");
    assert_int_equal(json_array(&list, &count), 0);
    rpc_reply_finish(&reply);
    return count;
}

static void test_a_lower_limit_forgets_records(void **state)
{
    enum { JOBS = 50, LOW = 7 };

    (void)state;
    scene_start();
    for (int i = 1; i <= JOBS; i++) {
        peer_submit(&peer, i, src, dst, COPY);
        peer_ok(&peer, i);
    }
    assert_int_equal(known(), JOBS);
    server.config.history = LOW;
    server_reconfigure(&server);
    server_reconfigure(&server); /* again, while records may still be removed */
    while (known() != LOW)
        ;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_after_ended_jobs),
        TEST(test_timeout_of_a_waiting_job),
        TEST(test_no_memory_for_a_record),
        TEST(test_no_memory_for_dependents),
        TEST(test_a_lower_limit_forgets_records),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
