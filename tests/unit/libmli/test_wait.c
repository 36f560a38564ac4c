/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_mov_wait() on one thread for a transfer that another thread completes. With the inline
 * engine the transfer is started in a callback: start has returned, and the transfer runs until the
 * callback has returned. With an engine that has threads, the transfer may be done earlier. Then
 * fewer waits sleep, and more waits run at the same time as the completion.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

enum { RACES = 2000 };

static struct {
    mli_mov_handle_t outer, inner; /* the callback of `outer` starts `inner` */
    struct tile outer_tile, inner_tile;
    atomic_bool started;
    atomic_uint inner_calls;
    mli_status inner_status;
    int linger_ns; /* time in which the callback delays the end of `inner` */
    pthread_t waiter;
    bool disturb;    /* true: the callback sends signals to the waiting thread */
    long waiting_ns; /* processor time that the last wait has used, in ns */
} at;

static void on_outer(int32_t cookie)
{
    (void)cookie;
    at.inner_status = mli_mov_start(&at.inner, NULL, NULL, NULL);
    atomic_store(&at.started, true);
    for (int i = 0; at.linger_ns > 0 && i < 10; i++) {
        nanosleep(&(struct timespec){.tv_nsec = at.linger_ns / 10}, NULL);
        if (at.disturb)
            pthread_kill(at.waiter, SIGUSR1);
    }
}

static void on_inner(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&at.inner_calls, 1);
}

static void *start_outer(void *unused)
{
    (void)unused;
    return mli_mov_start(&at.outer, NULL, NULL, NULL) == MLI_STATUS_OK ? &at : NULL;
}

static int begin(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    at.waiter = pthread_self();
    tile_init(&at.outer_tile, MLI_EL_FX_16);
    tile_init(&at.inner_tile, MLI_EL_FX_8);
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    assert_ok(mli_mov_acquire_handle(1, &at.outer));
    assert_ok(mli_mov_acquire_handle(1, &at.inner));
    assert_ok(mli_mov_registercallback(&at.outer, on_outer, 0));
    assert_ok(mli_mov_registercallback(&at.inner, on_inner, 0));
    assert_ok(tile_prepare(&at.outer_tile, &at.outer));
    return 0;
}

static int end(void **state)
{
    (void)state;
    return mli_mov_release_handle(&at.outer) != MLI_STATUS_OK ||
           mli_mov_release_handle(&at.inner) != MLI_STATUS_OK ||
           mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static long thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Records the status of wait, and whether the bytes were visible when it returned. */
static void wait_once(uint8_t byte)
{
    mli_status waited;
    pthread_t thread;
    bool moved, done;
    void *result;

    memset(at.inner_tile.in, byte, 24);
    assert_ok(tile_prepare(&at.inner_tile, &at.inner));
    atomic_store(&at.started, false);
    assert_int_equal(pthread_create(&thread, NULL, start_outer, NULL), 0);
    while (!atomic_load(&at.started))
        sched_yield();
    at.waiting_ns = -thread_ns();
    waited = mli_mov_wait(&at.inner);
    at.waiting_ns += thread_ns();
    done = mli_mov_isdone(&at.inner);
    moved = memcmp(at.inner_tile.out, at.inner_tile.in, 24) == 0;
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_non_null(result);
    /* the callback may still run when this thread has ended */
    assert_ok(mli_mov_synchronise(&at.outer));
    assert_ok(mli_mov_synchronise(&at.inner));
    assert_ok(at.inner_status);
    assert_ok(waited);
    assert_true(done);
    assert_true(moved);
}

static void test_wait_sleeps_until_done(void **state)
{
    (void)state;
    at.linger_ns = 50000000;
    wait_once(1);
    assert_int_equal(atomic_load(&at.inner_calls), 1);
    assert_true(at.waiting_ns < 10000000); /* a thread that spins would use most of the 50 ms */
}

static void on_signal(int number)
{
    (void)number;
}

/* A signal wakes the thread, but does not end the wait. */
static void test_signals_do_not_end_a_wait(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */

    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    at.linger_ns = 50000000;
    at.disturb = true;
    wait_once(2);
}

/* No wake-up is lost, whatever the timing of the completion and the wait is. */
static void test_wait_races_with_completion(void **state)
{
    (void)state;
    for (int i = 0; i < RACES; i++) {
        at.linger_ns = i % 50 ? 0 : 100000;
        wait_once((uint8_t)i);
    }
    assert_int_equal(atomic_load(&at.inner_calls), RACES);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_wait_sleeps_until_done, begin, end),
        cmocka_unit_test_setup_teardown(test_signals_do_not_end_a_wait, begin, end),
        cmocka_unit_test_setup_teardown(test_wait_races_with_completion, begin, end),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
