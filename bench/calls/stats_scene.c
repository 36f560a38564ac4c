/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.stats of a user among as many connections of other users as mlid serves. */
#include <err.h>
#include <stdlib.h>

#include "bench/calls/longest.h"
#include "daemon/config/config.h"
#include "daemon/job/jobs.h"
#include "daemon/net/net.h"

enum { USERS = 4096, FIRST_UID = 1000, CALLS = 100 };

static struct config config;
static struct jobs jobs;
static struct net net;
static struct flow *flows[USERS];
static struct client *clients;
static struct daemon_stats stats;

static struct scene_memory begin(void)
{
    config = (struct config){.clients = USERS};
    jobs = (struct jobs){0};
    net = (struct net){.config = &config, .jobs = &jobs};
    link_init(&jobs.running_tasks);
    link_init(&net.clients);
    users_init(&jobs.users);
    clients = calloc(USERS, sizeof *clients);
    if (!clients)
        err(1, "%d clients", USERS);
    for (uint32_t i = 0; i < USERS; i++) {
        const struct credentials peer = {.uid = FIRST_UID + i};

        flows[i] = flow_create(&jobs.users, i + 1, &peer);
        if (!flows[i])
            err(1, "%d users", USERS);
        clients[i].session.flow = flows[i];
        link_append(&net.clients, &clients[i].link);
        link_append(&flows[i]->user->connections, &clients[i].of_user);
    }
    return (struct scene_memory){clients, USERS * sizeof *clients};
}

static void call(uint32_t at)
{
    stats_fill(&stats, &net, flows[at * 37 % USERS]->user);
    if (stats.connection_count != 1)
        errx(1, "%u connections instead of 1", (unsigned)stats.connection_count);
}

static void end(void)
{
    for (uint32_t i = 0; i < USERS; i++)
        flow_drop(flows[i]);
    users_finish(&jobs.users);
    free(clients);
}

const struct scene stats_scene = {
    .title = "stats_fill: one of 4096 users, each with a connection",
    .calls = CALLS,
    .begin = begin,
    .call = call,
    .end = end,
};
