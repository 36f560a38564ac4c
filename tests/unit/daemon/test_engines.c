/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs jobs on all engines: working engines, faulty engines and polled engines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/memory/sigbus.h"
#include "libmli/port/ports.h"
#include "tests/unit/daemon/service_thread.h"

#define COPY "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'dst':{'fd':1}"
#define BIG_COPY                                                                                   \
    "'op':'mov','channels':4,'src':{'fd':0,'type':'fx8','shape':[1024,1024]},'dst':{'fd':1}"

enum { BIG = 1024 * 1024 };

static struct fixture fixture;
static struct peer *const peer = &fixture.peer;
static int src, dst, big_src, big_dst;
static unsigned char noise[BIG];

static int setup(void **state)
{
    (void)state;
    fixture_config(&fixture.config);
    src = memfd_with("abcd", 4);
    dst = memfd_with(NULL, 4);
    for (size_t i = 0; i < BIG; i++)
        noise[i] = (unsigned char)(i * 2654435761u >> 13);
    big_src = memfd_with(noise, BIG);
    big_dst = memfd_with(NULL, BIG);
    return 0;
}

static void start_on(const char *engine)
{
    strcpy(fixture.config.engine, engine);
    fixture_start(&fixture);
}

static int teardown(void **state)
{
    (void)state;
    fixture_stop(&fixture);
    close(src);
    close(dst);
    close(big_src);
    close(big_dst);
    return 0;
}

static void test_named(void **state)
{
    static const struct {
        const char *spec, *name;
    } engines[] = {{"inline", "inline"}, {"fault:threads,seed=3", "fault"},
                   {"", "threads"},      {"threads:tiny=0", "threads"},
                   {"mock", "mock"},     {"", "threads"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        struct job_result result;

        start_on(engines[i].spec);
        assert_string_equal(peer_info(peer).engine, engines[i].name);
        peer_submit(peer, 1, src, dst, COPY);
        peer_result(peer, 1, &result);
        assert_string_equal(result.engine, engines[i].name);
        job_result_finish(&result);
        assert_file(dst, "abcd", 4);
        peer_submit(peer, 2, big_src, big_dst, BIG_COPY);
        peer_ok(peer, 2);
        assert_file(big_dst, noise, BIG);
        assert_int_equal(ftruncate(dst, 0) + ftruncate(dst, 4), 0);
        assert_int_equal(ftruncate(big_dst, 0) + ftruncate(big_dst, BIG), 0);
        fixture_stop(&fixture);
    }
    start_on("");
}

/* Users see libmli's message about a wrong engine name or option. */
static void test_bad_specs(void **state)
{
    static const char *const bad[] = {"nope",           "threads:tiny",
                                      "threads:size=3", "fault",
                                      "fault:nope",     ":",
                                      "threads,tiny=0", "fault:threads,fail_pct=101"};
    struct service_thread *thread;
    struct fault fault;
    int socket;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        strcpy(fixture.config.engine, bad[i]);
        assert_int_equal(service_check(&fixture.config, &fault), -1);
        assert_string_equal(fault.pointer, "/engine");
        assert_status(mli_mov_set_engine(bad[i]), MLI_STATUS_ARGUMENT_ERROR);
        assert_ptr_equal(strstr(fault.text, mli_last_error()), fault.text);
        assert_non_null(strstr(fault.text, "; engines: threads, inline, fault, mock"));
        assert_int_equal(service_thread_start(&fixture.config, &thread, &socket), -EINVAL);
        assert_null(thread);
    }
    start_on("");
    /* The configuration is valid although the channels are busy. */
    assert_int_equal(service_check(&fixture.config, &fault), 0);
    assert_string_equal(peer_info(peer).engine, "threads");
}

static void test_channels_of_the_device(void **state)
{
    struct fault fault;

    (void)state;
    strcpy(fixture.config.engine, "mock");
    fixture.config.channels = MLI_MOV_MAX_CHANNELS;
    assert_int_equal(service_check(&fixture.config, &fault), -1);
    assert_string_equal(fault.pointer, "/channels");
    assert_non_null(strstr(fault.text, "the engine has 0 to"));
    fixture.config.channels = 4;
    assert_int_equal(service_check(&fixture.config, &fault), 0);
    start_on("");
}

/* Each channel of a job moves a part of the job. */
static void test_several_channels(void **state)
{
    uint64_t sum = 0;

    (void)state;
    start_on("threads");
    peer_submit(peer, 1, big_src, big_dst, BIG_COPY);
    peer_ok(peer, 1);
    assert_file(big_dst, noise, BIG);
    for (int i = 0; i < 4; i++) {
        mli_mov_channel_stats stats;

        assert_ok(mli_mov_get_channel_stats(i, &stats));
        assert_in_range(stats.bytes, BIG / 8, BIG / 2);
        sum += stats.bytes;
    }
    assert_true(sum == BIG);
    assert_int_equal(peer_info(peer).channels_busy, 0);
}

static void test_permute_runs_on_channels(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    start_on("threads");
    peer_submit(peer, 1, big_src, big_dst,
                "'op':'permute','channels':2,'src':{'fd':0,'type':'fx8','shape':[1024,1024]},"
                "'cfg':{'perm_dim':[1,0]},'dst':{'fd':1}");
    peer_ok(peer, 1);
    assert_ok(mli_mov_get_channel_stats(1, &stats));
    assert_int_equal(stats.bytes, BIG / 2);
}

/* The error of a failed job says where the transfer stopped. Other jobs are not affected. */
static void test_failing_copy(void **state)
{
    const struct fault *fault;

    (void)state;
    fixture.config.channels = 1;
    start_on("fault:threads,fail=2,row=3");
    peer_submit(peer, 1, src, dst, COPY);
    peer_ok(peer, 1);
    peer_submit(peer, 2, big_src, big_dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[64,64]},'cfg':{'size':[0,60]},"
                "'dst':{'fd':1}");
    fault = peer_error(peer, 2, FAULT_DMA_ERROR);
    assert_string_equal(fault->text,
                        "DMA channel 0 failed at byte 180 of dst: descriptor 0 (copy), row 3; "
                        "at least 180 of 3840 B are written");
    assert_int_equal(peer_info(peer).channels_busy, 0);
    assert_int_equal(peer_info(peer).jobs_failed, 1);
    peer_submit(peer, 3, src, dst, COPY);
    peer_ok(peer, 3);
}

static void test_failing_fill(void **state)
{
    (void)state;
    start_on("fault:inline,fail=1,descriptor=1,row=0");
    peer_submit(peer, 1, src, big_dst,
                "'op':'mov','src':{'fd':0,'type':'fx8','shape':[4]},'cfg':{'padding_pre':[8]},"
                "'dst':{'fd':1}");
    assert_non_null(strstr(peer_error(peer, 1, FAULT_DMA_ERROR)->text,
                           "descriptor 1 (zero fill), row 0; at least 4 of 12 B"));
    peer_expect_alive(peer);
}

/* Some jobs fail and report the failure. All other jobs have right results. */
static void test_many_failures(void **state)
{
    enum { JOBS = 200 };
    int failed = 0, to[JOBS];

    (void)state;
    start_on("fault:threads,seed=5,fail_pct=30,delay_us=300,reorder_pct=30");
    for (int i = 0; i < JOBS; i++) {
        to[i] = memfd_with(NULL, 4096);
        peer_submit(peer, i, big_src, to[i],
                    "'op':'mov','src':{'fd':0,'type':'fx8','shape':[64,64]},'dst':{'fd':1}");
    }
    for (int i = 0; i < JOBS; i++) {
        struct rpc_reply reply;

        peer_reply(peer, &reply);
        failed += !reply.ok;
        if (reply.ok)
            assert_file(to[reply.id.number], noise, 4096);
        else
            assert_int_equal(reply.error.code, FAULT_DMA_ERROR);
        close(to[reply.id.number]);
        rpc_reply_finish(&reply);
    }
    assert_in_range(failed, JOBS / 10, JOBS / 2);
    assert_int_equal(peer_info(peer).channels_busy, 0);
}

/* An engine flips one bit and reports no error: only a comparison with a golden file finds it. */
static void test_corrupt(void **state)
{
    char found[4];
    int bits = 0;

    (void)state;
    start_on("fault:threads,corrupt=1");
    peer_submit(peer, 1, src, dst, COPY);
    peer_ok(peer, 1);
    assert_int_equal(pread(dst, found, 4, 0), 4);
    for (int i = 0; i < 4; i++)
        bits += __builtin_popcount((unsigned)(found[i] ^ "abcd"[i]) & 0xff);
    assert_int_equal(bits, 1);
}

/* A job fails without a transfer if no SIGBUS guard is free for its memory. */
static void test_no_guard_left(void **state)
{
    struct sigbus_guard guards[SIGBUS_GUARDS_MAX - 1];

    (void)state;
    start_on("");
    for (size_t i = 0; i < COUNT_OF(guards); i++)
        assert_int_equal(sigbus_guard_init(&guards[i], NULL, 0), 0);
    peer_submit(peer, 1, src, dst, COPY);
    peer_error(peer, 1, FAULT_INTERNAL);
    assert_file(dst, "\0\0\0\0", 4);
    for (size_t i = 0; i < COUNT_OF(guards); i++)
        assert_false(sigbus_guard_finish(&guards[i]));
    peer_submit(peer, 2, src, dst, COPY);
    peer_ok(peer, 2);
    assert_int_equal(peer_info(peer).channels_busy, 0);
}

/* A job is answered at its deadline; its channel works again afterwards. */
static void stuck_past_its_deadline(const char *engine)
{
    start_on(engine);
    peer_submit(peer, 1, src, dst, "'timeout_ms':30," COPY);
    peer_submit(peer, 2, src, dst, COPY);
    assert_non_null(strstr(peer_error(peer, 1, FAULT_TIMED_OUT)->text, "running"));
    peer_ok(peer, 2);
    assert_file(dst, "abcd", 4);
    assert_int_equal(peer_info(peer).channels_busy, 0);
    assert_int_equal(peer_info(peer).jobs_running, 0);
}

static void test_stuck_past_its_deadline(void **state)
{
    (void)state;
    fixture.config.channels = 1;
    stuck_past_its_deadline("fault:threads,stick=1");
    fixture_stop(&fixture);
    stuck_past_its_deadline("fault:inline,stick=1");
    fixture_stop(&fixture);
    stuck_past_its_deadline("fault:mock,stick=1");
}

/* Some channels of a job are stuck, and some are done. */
static void test_stuck_over_several_channels(void **state)
{
    (void)state;
    start_on("fault:threads,stick=2");
    peer_submit(peer, 1, big_src, big_dst, "'timeout_ms':30," BIG_COPY);
    peer_error(peer, 1, FAULT_TIMED_OUT);
    peer_submit(peer, 2, big_src, big_dst, BIG_COPY);
    peer_ok(peer, 2);
    assert_file(big_dst, noise, BIG);
}

/*
 * Files shrink while their jobs wait behind a stuck job: the engine's thread that moves the data
 * gets the SIGBUS.
 */
static void shrinks_under(const char *engine)
{
    const int cut_src = memfd_with(noise, BIG), cut_dst = memfd_with(NULL, BIG);
    struct server server;
    struct peer holder, waiter;

    server_config(&server);
    strcpy(server.config.engine, engine);
    server_start(&server);
    sigbus_install(); /* cmocka installs its own handler for each test */
    server_connect(&server, &holder);
    server_connect(&server, &waiter);
    peer_submit(&holder, 0, src, dst, "'channels':4," COPY);
    while (peer_info(&waiter).jobs_running == 0)
        ;
    peer_submit(&waiter, 1, cut_src, big_dst, BIG_COPY);
    peer_submit(&waiter, 2, big_src, cut_dst, BIG_COPY);
    peer_submit(&waiter, 3, big_src, big_dst, BIG_COPY);
    assert_int_equal(peer_info(&waiter).jobs_queued, 3);
    assert_int_equal(ftruncate(cut_src, 5000) + ftruncate(cut_dst, 5000), 0);
    peer_finish(&holder); /* the stuck job's client has left: no client waits for the job */
    assert_string_equal(peer_error(&waiter, 1, FAULT_IO_ERROR)->pointer, "/src");
    assert_string_equal(peer_error(&waiter, 2, FAULT_IO_ERROR)->pointer, "/dst");
    peer_ok(&waiter, 3);
    assert_file(big_dst, noise, BIG);
    peer_finish(&waiter);
    server_stop(&server);
    close(cut_src);
    close(cut_dst);
}

static void test_files_shrink(void **state)
{
    (void)state;
    shrinks_under("fault:threads,stick=1");
    shrinks_under("fault:inline,stick=1"); /* the loop's thread gets the SIGBUS */
    shrinks_under("fault:mock,stick=1");
    start_on("");
}

/* The loop of mlid polls the device. The jobs need several descriptors each. */
static void test_polled(void **state)
{
    enum { JOBS = 64 };
    int to[JOBS];

    (void)state;
    start_on("mock");
    for (int i = 0; i < JOBS; i++) {
        to[i] = memfd_with(NULL, 65536);
        peer_submit(peer, i, big_src, to[i],
                    "'op':'mov','src':{'fd':0,'type':'fx16','shape':[128,256]},'dst':{'fd':1}");
    }
    for (int i = 0; i < JOBS; i++)
        peer_ok(peer, -1);
    for (int i = 0; i < JOBS; i++) {
        assert_file(to[i], noise, 65536);
        close(to[i]);
    }
}

#define ENGINE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ENGINE_TEST(test_named),
        ENGINE_TEST(test_bad_specs),
        ENGINE_TEST(test_channels_of_the_device),
        ENGINE_TEST(test_several_channels),
        ENGINE_TEST(test_permute_runs_on_channels),
        ENGINE_TEST(test_failing_copy),
        ENGINE_TEST(test_failing_fill),
        ENGINE_TEST(test_many_failures),
        ENGINE_TEST(test_corrupt),
        ENGINE_TEST(test_no_guard_left),
        ENGINE_TEST(test_stuck_past_its_deadline),
        ENGINE_TEST(test_stuck_over_several_channels),
        ENGINE_TEST(test_files_shrink),
        ENGINE_TEST(test_polled),
    };

    ports_add();
    return cmocka_run_group_tests(tests, fixture_warm_up, NULL);
}
