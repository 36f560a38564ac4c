/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the cost of daemon.stats: a user's request does not take longer because other users have
 * many connections.
 */
#include "daemon/net/net.h"

#include <stdlib.h>

#include "daemon/config/config.h"
#include "daemon/job/jobs.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/costs.h"

enum { FEW = 16, MANY = 4096, CALLS = 200, UID = 1000 };

static struct config config = {.clients = MANY};
static struct jobs jobs;
static struct net net = {.config = &config, .jobs = &jobs};
static struct client *clients;
static uint32_t count;

static int setup(void **state)
{
    (void)state;
    clients = calloc(MANY, sizeof *clients);
    assert_non_null(clients);
    link_init(&jobs.running_tasks);
    link_init(&net.clients);
    users_init(&jobs.users);
    count = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < count; i++)
        flow_drop(clients[i].session.flow);
    users_finish(&jobs.users);
    free(clients);
    return 0;
}

static void connect_users(uint32_t users)
{
    for (; count < users; count++) {
        const struct credentials peer = {.uid = UID + count};
        struct client *client = &clients[count];

        client->session.flow = flow_create(&jobs.users, count + 1, &peer);
        assert_non_null(client->session.flow);
        link_append(&net.clients, &client->link);
        link_append(&client->session.flow->user->connections, &client->of_user);
    }
}

static void ask(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < CALLS; i++) {
        const struct flow *flow = clients[i * 37 % count].session.flow;
        struct daemon_stats stats;

        stats_fill(&stats, &net, flow->user);
        assert_int_equal(stats.user_count, 1);
        assert_int_equal(stats.users[0].uid, flow->user->uid);
        assert_int_equal(stats.connection_count, 1);
        assert_int_equal(stats.connections[0].client, flow->number);
    }
}

static void test_cost_of_other_connections(void **state)
{
    double few, many;

    (void)state;
    connect_users(FEW);
    few = cost_of(ask, NULL);
    connect_users(MANY);
    many = cost_of(ask, NULL);
    print_message("daemon.stats among %d users costs %.1f times as much as among %d\n", MANY,
                  many / few, FEW);
    assert_true(many < few * COST_RATIO_MAX);
}

/* A reply has a limited number of users and connections, even for root. */
static void test_root_sees_a_bounded_list(void **state)
{
    struct daemon_stats stats;

    (void)state;
    connect_users(STATS_LIST_MAX + 1);
    stats_fill(&stats, &net, NULL);
    assert_int_equal(stats.user_count, STATS_LIST_MAX);
    assert_int_equal(stats.connection_count, STATS_LIST_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cost_of_other_connections, setup, teardown),
        cmocka_unit_test_setup_teardown(test_root_sees_a_bounded_list, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
