/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests many jobs of many clients at once, and shutdowns meanwhile. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmli/port/ports.h"
#include "tests/unit/daemon/service_thread.h"

enum { CLIENTS = 4, JOBS = 60, UNDER_WAY = 8, BIG = 512 * 512 };

static struct server server;
static unsigned char noise[BIG];

static int setup(void **state)
{
    (void)state;
    server_config(&server);
    for (size_t i = 0; i < BIG; i++)
        noise[i] = (unsigned char)(i * 2654435761u >> 13);
    return 0;
}

static const struct kind {
    size_t bytes;
    const char *job;
} kinds[] = {
    {64, "'op':'mov','src':{'fd':0,'type':'fx8','shape':[64]},'dst':{'fd':1}"},
    {BIG, "'op':'mov','src':{'fd':0,'type':'fx8','shape':[512,512]},'dst':{'fd':1}"},
    {64, "'op':'mov','priority':1,'src':{'fd':0,'type':'fx16','shape':[32]},'dst':{'fd':1}"},
    {BIG, "'op':'mov','channels':3,'src':{'fd':0,'type':'sa32','shape':[256,256]},'dst':{'fd':1}"},
    {64, "'op':'permute','src':{'fd':0,'type':'sa8','shape':[64]},'cfg':{'perm_dim':[0]},"
         "'dst':{'fd':1}"},
};

/* A client on its own thread that runs several jobs at a time, each with its own destination. */
static void *be_client(void *context)
{
    atomic_int *wrong = context;
    const int from = memfd_with(noise, BIG);
    int to[UNDER_WAY];
    struct peer peer;

    server_connect(&server, &peer);
    for (int i = 0; i < UNDER_WAY; i++)
        to[i] = memfd_with(NULL, BIG);
    for (int sent = 0, got = 0; got < JOBS; got++) {
        struct rpc_reply reply;
        unsigned char *found;

        for (; sent < JOBS && sent < got + UNDER_WAY && sent / UNDER_WAY == got / UNDER_WAY; sent++)
            peer_submit(&peer, sent, from, to[sent % UNDER_WAY],
                        kinds[sent % (int)COUNT_OF(kinds)].job);
        peer_reply(&peer, &reply);
        found = mmap(NULL, BIG, PROT_READ, MAP_SHARED, to[reply.id.number % UNDER_WAY], 0);
        if (!reply.ok ||
            memcmp(found, noise, kinds[(size_t)reply.id.number % COUNT_OF(kinds)].bytes) != 0)
            atomic_fetch_add(wrong, 1);
        munmap(found, BIG);
        rpc_reply_finish(&reply);
    }
    peer_finish(&peer);
    for (int i = 0; i < UNDER_WAY; i++)
        close(to[i]);
    close(from);
    return NULL;
}

static void crowd_on(const char *engine)
{
    pthread_t clients[CLIENTS];
    atomic_int wrong = 0;
    struct peer peer;

    server_config(&server);
    strcpy(server.config.engine, engine);
    server_start(&server);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, be_client, &wrong), 0);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    assert_int_equal(atomic_load(&wrong), 0);
    server_connect(&server, &peer);
    assert_int_equal(peer_info(&peer).jobs_done, CLIENTS * JOBS);
    assert_int_equal(peer_info(&peer).channels_busy, 0);
    peer_finish(&peer);
    server_stop(&server);
}

static void test_crowds(void **state)
{
    (void)state;
    crowd_on("");
    crowd_on("threads:tiny=0");
    crowd_on("inline");
    crowd_on("fault:threads,delay_us=200,delay_pct=20,reorder_pct=20");
    crowd_on("mock");
}

/* Services end and clients leave while transfers run. */
static void test_shutdowns_while_running(void **state)
{
    static const char *const engines[] = {"", "threads:tiny=0", "inline",
                                          "fault:threads,delay_us=500", "mock"};
    const int from = memfd_with(noise, BIG), to = memfd_with(NULL, BIG);

    (void)state;
    for (int round = 0; round < 60; round++) {
        struct fixture fixture;

        fixture_config(&fixture.config);
        strcpy(fixture.config.engine, engines[round % (int)COUNT_OF(engines)]);
        fixture_start(&fixture);
        for (int i = 0; i < 12; i++)
            peer_submit(&fixture.peer, i, from, to, kinds[i % (int)COUNT_OF(kinds)].job);
        if (round % 3 == 0)
            peer_ok(&fixture.peer, -1);
        if (round % 2 == 0)
            peer_finish(&fixture.peer); /* the client leaves before the service ends */
        if (round % 2 == 0) {
            service_thread_stop(fixture.thread);
        } else {
            fixture_stop(&fixture);
        }
    }
    close(from);
    close(to);
}

/* All channels are stuck: the shutdown takes drain_ms. */
static void test_shutdown_with_stuck_channels(void **state)
{
    const int from = memfd_with(noise, BIG), to = memfd_with(NULL, BIG);
    struct peer peer;
    uint64_t begun;

    (void)state;
    strcpy(server.config.engine, "fault:threads,stick_pct=100");
    server.config.drain_ms = 100;
    server_start(&server);
    server_connect(&server, &peer);
    for (int i = 0; i < 5; i++)
        peer_submit(&peer, i, from, to, kinds[0].job);
    while (peer_info(&peer).jobs_running < 4)
        ;
    begun = uv_hrtime();
    server_shutdown(&server);
    peer_error(&peer, 4, FAULT_SHUTTING_DOWN); /* the job was queued */
    for (int i = 0; i < 4; i++)
        peer_error(&peer, -1, FAULT_SHUTTING_DOWN);
    assert_int_not_equal(server_join(&server), 0);
    assert_true(uv_hrtime() - begun < UINT64_C(10) * 1000 * 1000 * 1000);
    server_stop(&server);
    peer_finish(&peer);
    close(from);
    close(to);
}

/* The end of a client frees its channels. */
static void test_client_leaves_stuck_job(void **state)
{
    const int from = memfd_with(noise, BIG), to = memfd_with(NULL, BIG);
    struct peer doomed, peer;

    (void)state;
    strcpy(server.config.engine, "fault:threads,stick=1");
    server.config.channels = 1;
    server_start(&server);
    server_connect(&server, &doomed);
    server_connect(&server, &peer);
    peer_submit(&doomed, 0, from, to, kinds[0].job);
    while (peer_info(&peer).jobs_running == 0)
        ;
    peer_submit(&peer, 1, from, to, kinds[0].job);
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    peer_finish(&doomed);
    peer_ok(&peer, 1);
    server_stop(&server);
    peer_finish(&peer);
    close(from);
    close(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_crowds, setup),
        cmocka_unit_test_setup(test_shutdowns_while_running, setup),
        cmocka_unit_test_setup(test_shutdown_with_stuck_channels, setup),
        cmocka_unit_test_setup(test_client_leaves_stuck_job, setup),
    };

    ports_add();
    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
