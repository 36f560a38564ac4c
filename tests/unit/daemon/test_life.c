/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests queued, running and overdue jobs, clients that leave, and files that shrink. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/memory/sigbus.h"
#include "tests/unit/daemon/gate.h"
#include "tests/unit/daemon/service_thread.h"

#define COPY      "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"
#define WITH(...) __VA_ARGS__ "," COPY

static struct server server;
static struct gate gate;
static struct peer peer;
static int src, dst, idle_fds;

/* Configures a service with one channel, and a gate that holds every transfer. */
static int setup(void **state)
{
    (void)state;
    idle_fds = count_fds();
    server_config(&server);
    server.config.channels = 1;
    src = memfd_with("abcd", 4);
    dst = memfd_with(NULL, 4);
    gate_close(&gate, &server.config);
    return 0;
}

static void start(void)
{
    server_start(&server);
    server_connect(&server, &peer);
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    peer_finish(&peer);
    gate_remove(&gate);
    close(src);
    close(dst);
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

/* Waits until the service is in a state that no event announces. */
#define EVENTUALLY(condition)                                                                      \
    do {                                                                                           \
        const struct timespec pause = {.tv_nsec = 1000 * 1000};                                    \
        int tries = 0;                                                                             \
        while (!(condition)) {                                                                     \
            if (++tries > 20 * 1000)                                                               \
                fail_msg("this state did not come: %s", #condition);                               \
            nanosleep(&pause, NULL);                                                               \
        }                                                                                          \
    } while (0)

static void test_priorities(void **state)
{
    const int order[] = {0, 4, 2, 3, 1};

    (void)state;
    start();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'priority':-1"));
    peer_submit(&peer, 2, src, dst, COPY);
    peer_submit(&peer, 3, src, dst, WITH("'priority':0"));
    peer_submit(&peer, 4, src, dst, WITH("'priority':1"));
    assert_int_equal(peer_info(&peer).jobs_queued, 4);
    assert_int_equal(peer_info(&peer).jobs_running, 1);
    assert_int_equal(peer_info(&peer).channels_busy, 1);
    for (size_t i = 0; i < COUNT_OF(order); i++)
        gate_release(&gate);
    for (size_t i = 0; i < COUNT_OF(order); i++)
        peer_ok(&peer, order[i]);
}

/*
 * A wide job waits for channels. Meanwhile a job does not overtake it if the job has more bytes
 * than the running transfer still has to move.
 */
static void test_wide_job(void **state)
{
    (void)state;
    server.config.channels = 3;
    start();
    peer_submit(&peer, 0, src, dst,
                "'channels':2,'op':'mov','src':{'fd':0,'type':'fx8','shape':[2]},'dst':{'fd':1}");
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'channels':3"));
    peer_submit(&peer, 2, src, dst, COPY);
    assert_int_equal(peer_info(&peer).jobs_queued, 2);
    gate_release(&gate);
    peer_ok(&peer, 0);
    gate_wait(&gate);
    assert_int_equal(peer_info(&peer).channels_busy, 3);
    gate_release(&gate);
    peer_ok(&peer, 1);
    gate_release(&gate);
    peer_ok(&peer, 2);
}

static void test_jobs_per_client(void **state)
{
    struct peer other;

    (void)state;
    server.config.jobs_per_client = 2;
    start();
    server_connect(&server, &other);
    peer_submit(&peer, 0, src, dst, COPY);
    peer_submit(&peer, 1, src, dst, COPY);
    peer_submit(&peer, 2, src, dst, COPY); /* this client's lines wait from here on */
    peer_submit(&peer, 4, src, dst, COPY);
    peer_submit(&other, 3, src, dst, COPY); /* another client may submit meanwhile */
    while (peer_info(&other).jobs_queued + peer_info(&other).jobs_running < 3)
        sched_yield();
    usleep(20 * 1000);
    assert_int_equal(peer_info(&other).jobs_queued + peer_info(&other).jobs_running, 3);
    for (int i = 0; i < 5; i++)
        gate_release(&gate);
    peer_ok(&peer, 0);
    peer_ok(&peer, 1);
    peer_ok(&peer, 2);
    peer_ok(&peer, 4);
    peer_ok(&other, 3);
    peer_finish(&other);
}

static void test_jobs_in_total(void **state)
{
    struct peer other;

    (void)state;
    server.config.jobs = 2;
    server.config.quotas.standard.jobs = 2;
    start();
    server_connect(&server, &other);
    peer_submit(&peer, 0, src, dst, COPY);
    peer_submit(&peer, 1, src, dst, COPY);
    gate_wait(&gate);
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    peer_submit(&other, 2, src, dst, COPY);
    usleep(20 * 1000);
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    for (int i = 0; i < 3; i++)
        gate_release(&gate);
    peer_ok(&other, 2);
    peer_ok(&peer, 0);
    peer_ok(&peer, 1);
    peer_finish(&other);
}

static void test_timeout_while_queued(void **state)
{
    (void)state;
    start();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'timeout_ms':80"));
    peer_submit(&peer, 2, src, dst, WITH("'timeout_ms':20"));
    peer_submit(&peer, 3, src, dst, WITH("'timeout_ms':60000"));
    assert_non_null(strstr(peer_error(&peer, 2, FAULT_TIMED_OUT)->text, "queued"));
    assert_string_equal(peer_error(&peer, 1, FAULT_TIMED_OUT)->pointer, "/timeout_ms");
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    assert_int_equal(peer_info(&peer).jobs_failed, 2);
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(&peer, 0);
    peer_ok(&peer, 3);
}

/*
 * The job is answered at its deadline; the channel is free again only when the transfer has
 * stopped.
 */
static void test_timeout_while_running(void **state)
{
    (void)state;
    start();
    peer_submit(&peer, 0, src, dst, WITH("'timeout_ms':30"));
    gate_wait(&gate);
    assert_non_null(strstr(peer_error(&peer, 0, FAULT_TIMED_OUT)->text, "running"));
    assert_int_equal(peer_info(&peer).channels_busy, 1);
    peer_submit(&peer, 1, src, dst, COPY);
    gate_release(&gate);
    gate_wait(&gate);
    gate_release(&gate);
    peer_ok(&peer, 1); /* job 0 gets no further reply */
    assert_int_equal(peer_info(&peer).jobs_done, 1);
    assert_int_equal(peer_info(&peer).jobs_failed, 1);
}

/* The overdue job was stopped before it accessed any data. */
static void test_timeout_stops_the_transfer(void **state)
{
    (void)state;
    start();
    peer_submit(&peer, 0, src, dst, WITH("'timeout_ms':30"));
    gate_wait(&gate);
    peer_error(&peer, 0, FAULT_TIMED_OUT);
    gate_release(&gate);
    EVENTUALLY(peer_info(&peer).channels_busy == 0);
    assert_file(dst, "\0\0\0\0", 4);
}

/* The queue waits for the overdue job. */
static void test_timeout_makes_room(void **state)
{
    (void)state;
    server.config.channels = 2;
    start();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'channels':2,'timeout_ms':30"));
    peer_submit(&peer, 2, src, dst, COPY);
    peer_error(&peer, 1, FAULT_TIMED_OUT);
    gate_wait(&gate);
    gate_release(&gate);
    gate_release(&gate);
    assert_int_equal(peer_ok(&peer, -1) + peer_ok(&peer, -1), 2);
}

static void test_client_leaves_with_jobs(void **state)
{
    struct peer other;

    (void)state;
    start();
    server_connect(&server, &other);
    peer_submit(&other, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&other, 1, src, dst, COPY);
    peer_submit(&other, 2, src, dst, WITH("'timeout_ms':60000"));
    assert_int_equal(peer_info(&other).jobs_queued, 2);
    peer_finish(&other);
    EVENTUALLY(peer_info(&peer).jobs_queued == 0);
    assert_int_equal(peer_info(&peer).jobs_running, 1);
    EVENTUALLY(peer_info(&peer).clients == 1);
    gate_release(&gate);
    EVENTUALLY(peer_info(&peer).jobs_running == 0);
    assert_file(dst, "\0\0\0\0", 4); /* the service cancelled the job because its client has left */
}

static void test_client_leaves_with_unread_replies(void **state)
{
    (void)state;
    start();
    for (int round = 0; round < 20; round++) {
        struct peer other;

        server_connect(&server, &other);
        peer_submit(&other, 0, src, dst, COPY);
        gate_wait(&gate);
        peer_send(&other, NULL, 0, "{'jsonrpc':'2.0','id':1,'method':'daemon.ping'}");
        peer_send_raw(&other, "{\"json", 6, NULL, 0);
        peer_finish(&other);
        gate_release(&gate);
    }
    EVENTUALLY(peer_info(&peer).clients == 1);
    EVENTUALLY(peer_info(&peer).jobs_running == 0);
}

/* A protocol error ends the connection at once, although its job is still running. */
static void test_protocol_error_with_jobs(void **state)
{
    struct peer other;

    (void)state;
    start();
    server_connect(&server, &other);
    peer_submit(&other, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&other, 1, src, dst, COPY);
    peer_send(&other, NULL, 0, "nonsense");
    peer_error(&other, -1, FAULT_PARSE_ERROR);
    peer_expect_end(&other);
    peer_finish(&other);
    assert_int_equal(peer_info(&peer).jobs_queued, 0);
    gate_release(&gate);
    EVENTUALLY(peer_info(&peer).jobs_running == 0);
}

static void test_shutdown(void **state)
{
    struct peer other;

    (void)state;
    start();
    server_connect(&server, &other);
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, COPY);
    peer_expect_alive(&peer);
    server_shutdown(&server);
    peer_error(&peer, 1, FAULT_SHUTTING_DOWN);
    peer_submit(&other, 2, src, dst, COPY);
    peer_error(&other, 2, FAULT_SHUTTING_DOWN);
    peer_expect_alive(&other); /* the connection stays open until its last job is done */
    gate_release(&gate);
    peer_ok(&peer, 0);
    peer_expect_end(&peer);
    peer_expect_end(&other);
    assert_file(dst, "abcd", 4);
    peer_finish(&other);
}

static void test_shutdown_with_drain_ms_exceeded(void **state)
{
    (void)state;
    server.config.drain_ms = 50;
    start();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    server_shutdown(&server);
    peer_error(&peer, 0, FAULT_SHUTTING_DOWN);
    gate_release(&gate);
    peer_expect_end(&peer);
    assert_int_not_equal(server_join(&server), 0);
}

/* A client that does not read cannot delay the shutdown. */
static void test_shutdown_with_client_that_does_not_read(void **state)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\n";
    struct pollfd poller = {.fd = -1, .events = POLLOUT};

    (void)state;
    server.config.line_timeout_ms = 100;
    start();
    poller.fd = peer.fd;
    while (poll(&poller, 1, 500) > 0)
        send(peer.fd, ping, sizeof ping - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

enum { BIG = 1 << 20 };

static void submit_big(int id, int from, int to)
{
    peer_submit(&peer, id, from, to,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[1024,1024]},'dst':{'fd':1}");
}

/* The file shrinks after all checks: only the file's own job fails. */
static void test_source_shrinks(void **state)
{
    int big_src = memfd_with(NULL, BIG), big_dst = memfd_with(NULL, BIG);
    const struct fault *fault;

    (void)state;
    start();
    sigbus_install(); /* cmocka installs its own handler for each test */
    submit_big(0, big_src, big_dst);
    gate_wait(&gate);
    assert_int_equal(ftruncate(big_src, 10000), 0);
    gate_release(&gate);
    fault = peer_error(&peer, 0, FAULT_IO_ERROR);
    assert_string_equal(fault->pointer, "/src");
    assert_non_null(strstr(fault->text, "src: file shrank while the job ran"));

    assert_int_equal(ftruncate(big_src, BIG), 0);
    gate_release(&gate);
    submit_big(1, big_src, big_dst);
    peer_ok(&peer, 1);
    close(big_src);
    close(big_dst);
}

static void test_destination_shrinks(void **state)
{
    int big_src = memfd_with(NULL, BIG), big_dst = memfd_with(NULL, BIG);
    const struct fault *fault;

    (void)state;
    start();
    sigbus_install();
    submit_big(0, big_src, big_dst);
    gate_wait(&gate);
    assert_int_equal(ftruncate(big_dst, 0), 0);
    gate_release(&gate);
    fault = peer_error(&peer, 0, FAULT_IO_ERROR);
    assert_string_equal(fault->pointer, "/dst");
    assert_non_null(strstr(fault->text, "dst: storage failed or file shrank"));
    peer_expect_alive(&peer);
    close(big_src);
    close(big_dst);
}

/* Sources and destinations shrink in several jobs at a time; other jobs succeed. */
static void test_many_files_shrink(void **state)
{
    enum { JOBS = 12 };
    int from[JOBS], to[JOBS];
    int good = 0, bad = 0;

    (void)state;
    server.config.channels = 4;
    start();
    sigbus_install();
    for (int i = 0; i < JOBS; i++) {
        from[i] = memfd_with(NULL, BIG);
        to[i] = memfd_with(NULL, BIG);
        submit_big(i, from[i], to[i]);
    }
    assert_int_equal(peer_info(&peer).jobs_queued, JOBS - 4);
    for (int i = 0; i < JOBS; i++) {
        if (i % 3)
            assert_int_equal(ftruncate(i % 3 == 1 ? from[i] : to[i], 4096), 0);
    }
    for (int i = 0; i < JOBS; i++)
        gate_release(&gate);
    for (int i = 0; i < JOBS; i++) {
        struct rpc_reply reply;

        peer_reply(&peer, &reply);
        assert_int_equal(reply.ok, reply.id.number % 3 == 0);
        good += reply.ok;
        bad += !reply.ok;
        rpc_reply_finish(&reply);
        close(from[i]);
        close(to[i]);
    }
    assert_int_equal(good, JOBS / 3);
    assert_int_equal(bad, JOBS - JOBS / 3);
}

/* A file that shrinks while its job is queued is noticed when the job starts. */
static void test_file_shrinks_in_the_queue(void **state)
{
    int big_src = memfd_with(NULL, BIG), big_dst = memfd_with(NULL, BIG);

    (void)state;
    start();
    sigbus_install();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    submit_big(1, big_src, big_dst);
    assert_int_equal(peer_info(&peer).jobs_queued, 1);
    assert_int_equal(ftruncate(big_src, 0), 0);
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(&peer, 0);
    peer_error(&peer, 1, FAULT_IO_ERROR);
    close(big_src);
    close(big_dst);
}

#define LIFE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFE_TEST(test_priorities),
        LIFE_TEST(test_wide_job),
        LIFE_TEST(test_jobs_per_client),
        LIFE_TEST(test_jobs_in_total),
        LIFE_TEST(test_timeout_while_queued),
        LIFE_TEST(test_timeout_while_running),
        LIFE_TEST(test_timeout_stops_the_transfer),
        LIFE_TEST(test_timeout_makes_room),
        LIFE_TEST(test_client_leaves_with_jobs),
        LIFE_TEST(test_client_leaves_with_unread_replies),
        LIFE_TEST(test_protocol_error_with_jobs),
        LIFE_TEST(test_shutdown),
        LIFE_TEST(test_shutdown_with_drain_ms_exceeded),
        LIFE_TEST(test_shutdown_with_client_that_does_not_read),
        LIFE_TEST(test_source_shrinks),
        LIFE_TEST(test_destination_shrinks),
        LIFE_TEST(test_many_files_shrink),
        LIFE_TEST(test_file_shrinks_in_the_queue),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
