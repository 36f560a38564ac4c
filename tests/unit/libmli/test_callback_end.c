/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a completion callback: when mli_mov_wait() or mli_mov_release_handle() has returned,
 * the callback has returned too, so that the caller may free what the callback uses. The shared
 * words that say so here are plain: under the thread sanitizer a wait that returns too early is a
 * data race, and elsewhere an assertion that fails.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/support/load.h"
#include "tests/support/unit.h"

enum { FRAMES = 3000, CHAIN = 2000, DEADLINE_S = 30 };

static struct load load;

static struct {
    int *frame; /* a variable of the function that started the transfer */
    atomic_bool entered, leave;
    atomic_int calls;
    bool returning; /* the last statement of the callback has run */
    int left;       /* transfers that the callback still has to start */
    mli_status inside;
    mli_mov_handle_t next; /* what the callback acquires after its own release */
} at;

static int begin(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    load_init_rows(&load, 1, 64, 1024, 0);
    unit_restore_engine();
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    load_claim(&load, 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    atomic_store(&at.leave, true);
    (void)mli_mov_synchronise(&load.h);
    (void)mli_mov_release_handle(&load.h);
    load_finish(&load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Waits for another thread; fails the test where it never comes. */
static void await(atomic_bool *flag)
{
    for (int ms = 0; ms < DEADLINE_S * 1000 && !atomic_load(flag); ms++)
        pause_ms(1);
    assert_true(atomic_load(flag));
}

static void write_frame(int32_t cookie)
{
    (void)cookie;
    sched_yield();
    (*at.frame)++;
}

/* Registers, starts, waits, releases and returns: the variable dies with this function's frame. */
static __attribute__((noinline)) int run_in_a_frame(bool wait)
{
    int frame = 0;

    at.frame = &frame;
    load_claim(&load, 1);
    assert_ok(mli_mov_registercallback(&load.h, write_frame, 0));
    load_start(&load);
    if (wait)
        assert_ok(mli_mov_wait(&load.h));
    else
        while (!mli_mov_isdone(&load.h))
            sched_yield();
    if (!wait)
        assert_ok(mli_mov_release_handle(&load.h));
    at.frame = NULL; /* a later callback would crash */
    if (wait)
        assert_ok(mli_mov_release_handle(&load.h));
    return frame;
}

static void test_waits_before_the_frame_dies(void **state)
{
    (void)state;
    assert_ok(mli_mov_release_handle(&load.h));
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(run_in_a_frame(i % 2 == 0), 1);
}

/* With the inline engine start returns only after the callback. */
static void linger(int32_t cookie)
{
    (void)cookie;
    atomic_store(&at.entered, true);
    while (!atomic_load(&at.leave))
        pause_ms(1);
    pause_ms(5);
    at.returning = true;
}

static void *start_it(void *unused)
{
    (void)unused;
    return mli_mov_start(&load.h, NULL, NULL, NULL) == MLI_STATUS_OK ? &at : NULL;
}

static void *let_leave_later(void *unused)
{
    pause_ms(20);
    atomic_store(&at.leave, true);
    return unused;
}

/* The callback is running when `call` begins. */
static void returns_after_the_callback(mli_status (*call)(mli_mov_handle_t *))
{
    pthread_t starter, releaser;
    void *started;

    assert_ok(mli_mov_registercallback(&load.h, linger, 0));
    assert_int_equal(pthread_create(&starter, NULL, start_it, NULL), 0);
    await(&at.entered);
    assert_true(mli_mov_isdone(&load.h)); /* done, while its callback runs */
    assert_int_equal(pthread_create(&releaser, NULL, let_leave_later, NULL), 0);
    assert_ok(call(&load.h));
    assert_true(at.returning);
    assert_int_equal(pthread_join(starter, &started), 0);
    assert_int_equal(pthread_join(releaser, NULL), 0);
    assert_non_null(started);
}

static void test_wait_returns_after_the_callback(void **state)
{
    (void)state;
    returns_after_the_callback(mli_mov_wait);
}

static void test_release_returns_after_the_callback(void **state)
{
    (void)state;
    returns_after_the_callback(mli_mov_release_handle);
}

static void start_next(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&at.calls, 1);
    if (at.left-- > 0 && mli_mov_start(&load.h, NULL, NULL, NULL) != MLI_STATUS_OK)
        atomic_store(&at.calls, -CHAIN);
}

static void *start_chain(void *unused)
{
    at.left = CHAIN;
    return start_it(unused);
}

/* A thread that waits gets on, however often the callback starts the handle again meanwhile. */
static void test_wait_during_a_chain(void **state)
{
    pthread_t starter;
    void *started;

    (void)state;
    assert_ok(mli_mov_registercallback(&load.h, start_next, 0));
    assert_int_equal(pthread_create(&starter, NULL, start_chain, NULL), 0);
    while (atomic_load(&at.calls) == 0)
        sched_yield();
    for (int i = 0; i < 100; i++)
        assert_ok(mli_mov_wait(&load.h));
    assert_int_equal(pthread_join(starter, &started), 0);
    assert_non_null(started);
    assert_ok(mli_mov_synchronise(&load.h));
    assert_int_equal(atomic_load(&at.calls), CHAIN + 1);
}

/* A callback that restarts its handle while another thread is in release: release is refused. */
static void restart_late(int32_t cookie)
{
    (void)cookie;
    if (atomic_fetch_add(&at.calls, 1) > 0)
        return;
    atomic_store(&at.entered, true);
    while (!atomic_load(&at.leave))
        pause_ms(1);
    at.inside = mli_mov_start(&load.h, NULL, NULL, NULL);
}

static void test_release_meets_a_restart(void **state)
{
    pthread_t starter, releaser;
    mli_status released;

    (void)state;
    assert_ok(mli_mov_registercallback(&load.h, restart_late, 0));
    assert_int_equal(pthread_create(&starter, NULL, start_it, NULL), 0);
    await(&at.entered);
    assert_int_equal(pthread_create(&releaser, NULL, let_leave_later, NULL), 0);
    released = mli_mov_release_handle(&load.h);
    assert_int_equal(pthread_join(starter, NULL), 0);
    assert_int_equal(pthread_join(releaser, NULL), 0);
    assert_ok(at.inside);
    /* Refused while the second transfer runs, or released after it is done: never in between. */
    if (released == MLI_STATUS_OK) {
        assert_int_equal(atomic_load(&at.calls), 2);
    } else {
        assert_status(released, MLI_STATUS_ARGUMENT_ERROR);
        assert_ok(mli_mov_wait(&load.h));
        assert_int_equal(atomic_load(&at.calls), 2);
    }
}

/* Releases its own handle, claims the channel for the next owner, and stays. */
static void release_and_linger(int32_t cookie)
{
    (void)cookie;
    at.inside = mli_mov_release_handle(&load.h);
    if (at.inside == MLI_STATUS_OK)
        at.inside = mli_mov_acquire_handle(1, &at.next);
    linger(0);
}

static void *wait_for_it(void *unused)
{
    const mli_status status = mli_mov_wait(&load.h);

    (void)unused;
    return (status == MLI_STATUS_OK || status == MLI_STATUS_ARGUMENT_ERROR) ? &at : NULL;
}

/* The next owner of the channel does not wait for a callback of the owner before. */
static void test_next_owner_does_not_wait(void **state)
{
    pthread_t starter, waiter;
    void *right;

    (void)state;
    assert_ok(mli_mov_registercallback(&load.h, release_and_linger, 0));
    assert_int_equal(pthread_create(&starter, NULL, start_it, NULL), 0);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_it, NULL), 0);
    await(&at.entered);
    assert_ok(at.inside);
    assert_ok(mli_mov_synchronise(&at.next)); /* the callback still runs: at.leave is not set */
    assert_ok(mli_mov_release_handle(&at.next));
    atomic_store(&at.leave, true);
    assert_int_equal(pthread_join(starter, NULL), 0);
    assert_int_equal(pthread_join(waiter, &right), 0);
    assert_non_null(right);
    for (int ms = 0; ms < DEADLINE_S * 1000 && mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK; ms++)
        pause_ms(1);
    load_claim(&load, 1); /* for the teardown */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_before_the_frame_dies, begin, end),
        cmocka_unit_test_setup_teardown(test_wait_returns_after_the_callback, begin, end),
        cmocka_unit_test_setup_teardown(test_release_returns_after_the_callback, begin, end),
        cmocka_unit_test_setup_teardown(test_wait_during_a_chain, begin, end),
        cmocka_unit_test_setup_teardown(test_release_meets_a_restart, begin, end),
        cmocka_unit_test_setup_teardown(test_next_owner_does_not_wait, begin, end),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
