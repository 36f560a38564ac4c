/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a completion callback: when mli_mov_wait() or mli_mov_release_handle() has returned,
 * the callback has returned too, so that the caller may free what the callback uses.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/slow_callback.h"
#include "tests/support/unit.h"

enum { FRAMES = 3000, CHAIN = 2000 };

static struct {
    int *frame; /* a variable of the function that started the transfer */
    atomic_int calls;
    int left; /* transfers that the callback still has to start */
    mli_status inside;
    mli_mov_handle_t next; /* acquired by the callback, after it has released its own handle */
} at;

static int begin(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    slow_init(64, 1024, 1);
    return 0;
}

static void write_frame(int32_t cookie)
{
    (void)cookie;
    sched_yield();
    (*at.frame)++;
}

/*
 * Registers the callback, starts, waits, releases and returns: the variable ends with this
 * function's frame.
 */
static __attribute__((noinline)) int run_in_a_frame(bool wait)
{
    int frame = 0;

    at.frame = &frame;
    load_claim(&slow.load, 1);
    assert_ok(mli_mov_registercallback(&slow.load.h, write_frame, 0));
    load_start(&slow.load);
    if (wait)
        assert_ok(mli_mov_wait(&slow.load.h));
    else
        while (!mli_mov_isdone(&slow.load.h))
            sched_yield();
    if (!wait)
        assert_ok(mli_mov_release_handle(&slow.load.h));
    at.frame = NULL; /* a later callback would crash */
    if (wait)
        assert_ok(mli_mov_release_handle(&slow.load.h));
    return frame;
}

static void test_waits_before_the_frame_dies(void **state)
{
    (void)state;
    assert_ok(mli_mov_release_handle(&slow.load.h));
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(run_in_a_frame(i % 2 == 0), 1);
}

static void *let_leave_later(void *unused)
{
    slow_pause_ms(20);
    atomic_store(&slow.leave, true);
    return unused;
}

/* Runs `call` while the callback runs. */
static void returns_after_the_callback(mli_status (*call)(mli_mov_handle_t *))
{
    pthread_t starter, releaser;
    void *started;

    assert_ok(mli_mov_registercallback(&slow.load.h, slow_callback, 0));
    assert_int_equal(pthread_create(&starter, NULL, slow_start, NULL), 0);
    slow_await(&slow.entered);
    assert_true(mli_mov_isdone(&slow.load.h)); /* the transfer is done while its callback runs */
    assert_int_equal(pthread_create(&releaser, NULL, let_leave_later, NULL), 0);
    assert_ok(call(&slow.load.h));
    assert_true(slow.returning);
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
    if (at.left-- > 0 && mli_mov_start(&slow.load.h, NULL, NULL, NULL) != MLI_STATUS_OK)
        atomic_store(&at.calls, -CHAIN);
}

static void *start_chain(void *unused)
{
    at.left = CHAIN;
    return slow_start(unused);
}

/* A waiting thread returns, even if the callback keeps restarting the handle. */
static void test_wait_during_a_chain(void **state)
{
    pthread_t starter;
    void *started;

    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, start_next, 0));
    assert_int_equal(pthread_create(&starter, NULL, start_chain, NULL), 0);
    while (atomic_load(&at.calls) == 0)
        sched_yield();
    for (int i = 0; i < 100; i++)
        assert_ok(mli_mov_wait(&slow.load.h));
    assert_int_equal(pthread_join(starter, &started), 0);
    assert_non_null(started);
    assert_ok(mli_mov_synchronise(&slow.load.h));
    assert_int_equal(atomic_load(&at.calls), CHAIN + 1);
}

/* Restarts the handle while another thread is in mli_mov_release_handle(), which is then refused.
 */
static void restart_late(int32_t cookie)
{
    (void)cookie;
    if (atomic_fetch_add(&at.calls, 1) > 0)
        return;
    atomic_store(&slow.entered, true);
    while (!atomic_load(&slow.leave))
        slow_pause_ms(1);
    at.inside = mli_mov_start(&slow.load.h, NULL, NULL, NULL);
}

static void test_release_meets_a_restart(void **state)
{
    pthread_t starter, releaser;
    mli_status released;

    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, restart_late, 0));
    assert_int_equal(pthread_create(&starter, NULL, slow_start, NULL), 0);
    slow_await(&slow.entered);
    assert_int_equal(pthread_create(&releaser, NULL, let_leave_later, NULL), 0);
    released = mli_mov_release_handle(&slow.load.h);
    assert_int_equal(pthread_join(starter, NULL), 0);
    assert_int_equal(pthread_join(releaser, NULL), 0);
    assert_ok(at.inside);
    /* The release is refused if the second transfer is still running, and succeeds if it is done.
     */
    if (released == MLI_STATUS_OK) {
        assert_int_equal(atomic_load(&at.calls), 2);
    } else {
        assert_status(released, MLI_STATUS_ARGUMENT_ERROR);
        assert_ok(mli_mov_wait(&slow.load.h));
        assert_int_equal(atomic_load(&at.calls), 2);
    }
}

/*
 * The callback releases its own handle, claims the channel for the next owner, and keeps running.
 */
static void release_and_stay(int32_t cookie)
{
    (void)cookie;
    at.inside = mli_mov_release_handle(&slow.load.h);
    if (at.inside == MLI_STATUS_OK)
        at.inside = mli_mov_acquire_handle(1, &at.next);
    slow_callback(0);
}

static void *wait_for_it(void *unused)
{
    const mli_status status = mli_mov_wait(&slow.load.h);

    (void)unused;
    return (status == MLI_STATUS_OK || status == MLI_STATUS_ARGUMENT_ERROR) ? &at : NULL;
}

/* The next owner of the channel does not wait for a callback of the previous owner. */
static void test_next_owner_does_not_wait(void **state)
{
    pthread_t starter, waiter;
    void *right;

    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, release_and_stay, 0));
    assert_int_equal(pthread_create(&starter, NULL, slow_start, NULL), 0);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_it, NULL), 0);
    slow_await(&slow.entered);
    assert_ok(at.inside);
    assert_ok(mli_mov_synchronise(&at.next)); /* the callback still runs: slow.leave is not set */
    assert_ok(mli_mov_release_handle(&at.next));
    atomic_store(&slow.leave, true);
    assert_int_equal(pthread_join(starter, NULL), 0);
    assert_int_equal(pthread_join(waiter, &right), 0);
    assert_non_null(right);
    for (int ms = 0; ms < SLOW_DEADLINE_S * 1000 && mli_mov_set_num_dma_ch(0, 1) != MLI_STATUS_OK;
         ms++)
        slow_pause_ms(1);
    load_claim(&slow.load, 1); /* the teardown releases this claim */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_before_the_frame_dies, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_wait_returns_after_the_callback, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_release_returns_after_the_callback, begin,
                                        slow_finish),
        cmocka_unit_test_setup_teardown(test_wait_during_a_chain, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_release_meets_a_restart, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_next_owner_does_not_wait, begin, slow_finish),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
