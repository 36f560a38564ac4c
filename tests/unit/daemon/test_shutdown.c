/* SPDX-License-Identifier: BSD-3-Clause */
/* Shutdowns with as many jobs as the limits allow. */
#include <unistd.h>

#include "tests/unit/daemon/costs.h"
#include "tests/unit/daemon/scene.h"

enum { FEW = 64, MANY = 16384, ROUNDS = 3, GROUP = 64 };

/* Starts `count` jobs in chains of GROUP jobs, each after the one before it. The first job is held
 * at the gate. */
static void start_jobs(int count)
{
    peer_send(&peer, (int[]){src, dst}, 2,
              "{'jsonrpc':'2.0','id':0,'method':'job.prepare','fds':2,'params':{" WITH(
                  "'name':'job'") "}}");
    peer_ok(&peer, 0);
    for (int i = 1; i <= count; i++) {
        const char *params = "'prepared':1,'after':['job']";

        if (i % GROUP == 1)
            params = "'prepared':1";
        scene_call(&peer, i, "job.start", params);
    }
    gate_wait(&gate);
    peer_expect_alive(&other);
    while ((int)peer_info(&other).jobs_queued < count - 1)
        ;
}

/* Shuts down while `count` jobs wait. Returns the nanoseconds that service_shutdown() took. */
static double shutdown_with(int count)
{
    double took;

    server.config.jobs = server.config.jobs_per_client = (uint32_t)count;
    server.config.quotas.standard.jobs = (uint32_t)count;
    scene_start_gated();
    start_jobs(count);
    server_shutdown(&server);
    for (int i = 1; i < count; i++)
        peer_error(&peer, -1, FAULT_SHUTTING_DOWN);
    scene_call(&other, 1, "job.start", "'prepared':1");
    peer_error(&other, 1, FAULT_SHUTTING_DOWN);
    gate_open(&gate);
    peer_ok(&peer, 1); /* the running job */
    peer_expect_end(&peer);
    peer_expect_end(&other);
    server_join(&server);
    took = (double)server.shutdown_ns;
    scene_teardown(NULL);
    return took;
}

/* Returns the shortest time of several rounds; other processes may delay a round. */
static double cost_with(int count)
{
    double best = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double took;

        scene_setup(NULL);
        took = shutdown_with(count);
        if (best == 0 || took < best)
            best = took;
    }
    return best;
}

static void test_cost_of_many_jobs(void **state)
{
    double few, many;

    (void)state;
    few = cost_with(FEW);
    many = cost_with(MANY);
    print_message("service_shutdown() with %d jobs takes %.0f us, with %d jobs %.0f us\n", FEW,
                  few / 1000, MANY, many / 1000);
    assert_true(many < few * COST_RATIO_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cost_of_many_jobs),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
