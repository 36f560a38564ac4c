/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests channels that connections share, wide jobs, and stuck channels. */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/daemon/scene.h"

static void rest(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000 * 1000};

    nanosleep(&pause, NULL);
}

/* A job with fewer bytes than COPY, which the scheduler therefore expects to end earlier. */
#define SMALL "'op':'mov','src':{'fd':0,'type':'fx8','shape':[2]},'dst':{'fd':1}"

/* Returns whether the first client gets a reply within `ms` milliseconds. */
static bool answered(int ms)
{
    struct pollfd poller = {.fd = peer.fd, .events = POLLIN};

    return poll(&poller, 1, ms) > 0;
}

static void test_channels_are_reserved_for_wide_job(void **state)
{
    (void)state;
    server.config.channels = 4;
    scene_start_gated();
    for (int i = 0; i < 4; i++) {
        peer_submit(&peer, i, src, dst, SMALL);
        gate_wait(&gate);
    }
    peer_submit(&peer, 4, src, dst, WITH("'channels':4"));
    while (peer_info(&peer).jobs_queued < 1)
        rest(1);
    for (int i = 0; i < 20; i++)
        peer_submit(&other, i, src, dst, COPY);
    while (peer_info(&peer).jobs_queued < 21)
        rest(1);
    for (int i = 0; i < 4; i++)
        gate_release(&gate);
    for (int i = 0; i < 4; i++)
        peer_ok(&peer, -1);
    gate_wait(&gate);
    assert_int_equal(peer_info(&peer).jobs_running, 1);
    assert_int_equal(peer_info(&peer).channels_busy, 4);
    assert_int_equal(peer_info(&peer).jobs_queued, 20);
    for (int i = 0; i < 24; i++)
        gate_release(&gate);
    peer_ok(&peer, 4);
    for (int i = 0; i < 20; i++)
        peer_ok(&other, -1);
}

static void wait_for_jobs_queued(uint32_t count)
{
    while (peer_info(&peer).jobs_queued != count)
        rest(1);
}

/*
 * A job that needs all channels waits for one long transfer. Meanwhile shorter jobs start on the
 * other channels.
 */
static void test_short_jobs_start_before_wide_job(void **state)
{
    (void)state;
    server.config.channels = 4;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'channels':4"));
    wait_for_jobs_queued(1);
    for (int i = 0; i < 8; i++)
        peer_submit(&other, i, src, dst, SMALL);
    for (int i = 0; i < 3; i++)
        gate_wait(&gate);
    wait_for_jobs_queued(6);
    assert_int_equal(peer_info(&peer).jobs_running, 4);
    while (!answered(20)) /* any of the four jobs may end first */
        gate_release(&gate);
    peer_ok(&peer, 0);
    while (!answered(20))
        gate_release(&gate);
    peer_ok(&peer, 1);
    for (int i = 0; i < 10; i++)
        gate_release(&gate);
    for (int i = 0; i < 8; i++)
        peer_ok(&other, -1);
}

/* Two of four channels are reserved; later jobs start on the two free channels. */
static void test_jobs_run_beside_reserved_channels(void **state)
{
    uint32_t left;
    int released = 0;

    (void)state;
    server.config.channels = 4;
    scene_start_gated();
    for (int i = 0; i < 4; i++) {
        peer_submit(&other, i, src, dst, COPY);
        gate_wait(&gate);
    }
    peer_submit(&peer, 0, src, dst, WITH("'channels':2"));
    while (peer_info(&peer).jobs_queued < 1)
        rest(1);
    for (int i = 4; i < 24; i++)
        peer_submit(&other, i, src, dst, COPY);
    while (peer_info(&peer).jobs_queued < 21)
        rest(1);
    do {
        gate_release(&gate);
        released++;
    } while (!answered(20));
    peer_ok(&peer, 0);
    left = peer_info(&peer).jobs_queued;
    assert_in_range(left, 1, 19);
    while (released++ < 26)
        gate_release(&gate);
    for (int i = 0; i < 24; i++)
        peer_ok(&other, -1);
}

/*
 * A wide job is cancelled while channels are reserved for it: other jobs may use these channels
 * again.
 */
static void test_cancelled_wide_job(void **state)
{
    (void)state;
    server.config.channels = 2;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, SMALL);
    gate_wait(&gate);
    peer_submit(&peer, 1, src, dst, WITH("'channels':2,'timeout_ms':50"));
    while (peer_info(&peer).jobs_queued < 1)
        rest(1);
    peer_submit(&other, 0, src, dst, COPY);
    peer_error(&peer, 1, FAULT_TIMED_OUT);
    gate_wait(&gate); /* the other client's job now has the second channel */
    gate_release(&gate);
    gate_release(&gate);
    peer_ok(&peer, 0);
    peer_ok(&other, 0);
}

/* Large, because on a busy machine a working channel may be delayed by tens of milliseconds. */
enum { STUCK_MS = 300 };

static void stick(const char *engine, uint32_t channels)
{
    server.config.channels = channels;
    server.config.watchdog.limit_ms = STUCK_MS;
    snprintf(server.config.engine, sizeof server.config.engine, "%s", engine);
}

static void test_a_stuck_channel(void **state)
{
    (void)state;
    stick("fault:threads,stick=1", 2);
    server.config.watchdog.quarantine_ms = 1000;
    scene_start();
    peer_submit(&peer, 0, src, dst, COPY);
    assert_non_null(strstr(peer_error(&peer, 0, FAULT_CHANNEL_STUCK)->text, "DMA channel 0"));
    assert_int_equal(peer_info(&peer).channels_quarantined, 1);
    for (int i = 1; i < 10; i++) { /* later jobs run meanwhile */
        peer_submit(&peer, i, src, dst, COPY);
        peer_ok(&peer, i);
    }
    peer_submit(&peer, 10, src, dst, WITH("'channels':2"));
    assert_string_equal(peer_error(&peer, 10, FAULT_CHANNEL_STUCK)->pointer, "/channels");
    while (peer_info(&peer).channels_quarantined > 0)
        rest(5);
    peer_submit(&peer, 11, src, dst, WITH("'channels':2"));
    peer_ok(&peer, 11);
    assert_int_equal(peer_info(&peer).jobs_failed, 2);
}

static void test_all_channels_stuck(void **state)
{
    (void)state;
    stick("fault:threads,stick_pct=100", 2);
    scene_start();
    for (int i = 0; i < 20; i++)
        peer_submit(&peer, i, src, dst, COPY);
    for (int i = 0; i < 20; i++)
        peer_error(&peer, -1, FAULT_CHANNEL_STUCK);
    assert_int_equal(peer_info(&peer).channels_quarantined, 2);
    peer_submit(&peer, 20, src, dst, COPY);
    peer_error(&peer, 20, FAULT_CHANNEL_STUCK);
}

/*
 * A device ignores a cancel: until the transfer is done, its channel stays in quarantine, and its
 * memory stays mapped.
 */
static void test_a_channel_that_ignores_cancels(void **state)
{
    (void)state;
    server.config.channels = 2;
    server.config.watchdog.limit_ms = STUCK_MS;
    server.config.watchdog.quarantine_ms = 0;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    peer_error(&peer, 0, FAULT_CHANNEL_STUCK);
    assert_int_equal(peer_info(&peer).channels_quarantined, 1);
    assert_int_equal(peer_info(&peer).channels_busy, 1);
    rest(100);
    assert_int_equal(peer_info(&peer).channels_quarantined, 1);
    assert_file(dst, "\0\0\0\0", 4);
    gate_release(&gate);
    while (peer_info(&peer).channels_quarantined > 0)
        rest(1);
    assert_int_equal(peer_info(&peer).channels_busy, 0);
    peer_submit(&peer, 1, src, dst, WITH("'channels':2"));
    gate_wait(&gate); /* held until now: the transfer of the job that was stuck */
    gate_wait(&gate);
    gate_release(&gate);
    peer_ok(&peer, 1);
    assert_int_equal(peer_info(&peer).jobs_failed, 1);
}

static sem_t resumed;

static void stop_thread(int signal)
{
    const struct timespec length = {.tv_sec = 1, .tv_nsec = 500 * 1000 * 1000};

    (void)signal;
    nanosleep(&length, NULL);
    sem_post(&resumed);
}

/*
 * Time in which the process was stopped does not count: in this test a signal stops the loop's
 * thread.
 */
static void test_a_stopped_process(void **state)
{
    (void)state;
    sem_init(&resumed, 0, 0);
    signal(SIGUSR1, stop_thread);
    server.config.watchdog.limit_ms = 1000;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    gate_wait(&gate);
    pthread_kill(server.thread, SIGUSR1);
    while (sem_wait(&resumed) < 0)
        ;
    rest(100);
    assert_int_equal(peer_info(&peer).jobs_running, 1);
    gate_release(&gate);
    peer_ok(&peer, 0);
    signal(SIGUSR1, SIG_DFL);
    sem_destroy(&resumed);
}

/* Toward the watchdog's limit, each element of a source with large strides counts as a page. */
static void test_a_strided_source(void **state)
{
    static const char within[] = "within ";
    int strided = memfd_with(NULL, 28673), packed = memfd_with(NULL, 8);
    const char *text;

    (void)state;
    stick("fault:threads,stick=1", 2);
    server.config.watchdog.bytes_per_second = 28000;
    scene_start();
    peer_submit(&peer, 0, strided, packed,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[8],'strides':[4096]},"
                "'dst':{'fd':1}");
    text = strstr(peer_error(&peer, 0, FAULT_CHANNEL_STUCK)->text, within);
    assert_non_null(text);
    assert_true(atoi(text + strlen(within)) >= STUCK_MS + 1000);
    close(strided);
    close(packed);
}

static void test_no_watchdog(void **state)
{
    (void)state;
    server.config.watchdog.limit_ms = 0;
    scene_start_gated();
    peer_submit(&peer, 0, src, dst, COPY);
    rest(100);
    assert_int_equal(peer_info(&peer).jobs_running, 1);
    gate_release(&gate);
    peer_ok(&peer, 0);
}

/* A chain of dependent jobs is ended without recursion. */
static void test_a_long_chain_of_jobs(void **state)
{
    enum { COUNT = 8000 };

    (void)state;
    server.config.jobs = server.config.jobs_per_client = COUNT + 1;
    server.config.quotas.standard.jobs = COUNT + 1;
    scene_start_gated();
    peer_submit(&other, 0, src, dst, COPY);
    gate_wait(&gate);
    peer_submit(&peer, 0, src, dst, WITH("'name':'n0'")); /* the first job of the chain */
    for (int i = 1; i < COUNT; i++) {
        char job[256];

        snprintf(job, sizeof job, WITH("'name':'n%d','after':['n%d']"), i, i - 1);
        peer_submit(&peer, i, src, dst, job);
    }
    while (peer_info(&other).jobs_queued < COUNT)
        rest(1);
    scene_call(&other, 1, "job.cancel", "'job':2");
    peer_ok(&other, 1);
    peer_error(&peer, 0, FAULT_CANCELLED);
    for (int i = 1; i < COUNT; i++)
        assert_string_equal(peer_error(&peer, i, FAULT_PREDECESSOR_FAILED)->pointer, "/after/0");
    gate_release(&gate);
    peer_ok(&other, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_channels_are_reserved_for_wide_job),
        SCENE(test_short_jobs_start_before_wide_job),
        SCENE(test_jobs_run_beside_reserved_channels),
        SCENE(test_cancelled_wide_job),
        SCENE(test_a_stuck_channel),
        SCENE(test_all_channels_stuck),
        SCENE(test_a_channel_that_ignores_cancels),
        SCENE(test_a_stopped_process),
        SCENE(test_a_strided_source),
        SCENE(test_no_watchdog),
        SCENE(test_a_long_chain_of_jobs),
    };

    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
