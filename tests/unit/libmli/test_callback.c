/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion callbacks. A callback has no argument but its cookie, so the tests keep its data in
 * static variables. A transfer that a callback starts on the same single channel completes after
 * the callback has returned, with every engine. Until then it is running: the tests of calls in
 * that state rely on this.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static struct {
    struct tile tile;
    mli_mov_handle_t h;
    atomic_int calls;
    int32_t cookies[8];
    mli_status status[8]; /* statuses returned by calls inside the callback */
    bool done_in_callback;
    uintptr_t lowest, highest; /* addresses of local variables of the callbacks */
    int left;                  /* transfers that the chain still has to start */
} at;

/* With an engine that has threads, or is polled, the callback may come a moment after wait. */
static void assert_calls(int want)
{
    for (int ms = 0; ms < 2000 && atomic_load(&at.calls) < want; ms++) {
        if (mli_mov_poll() == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(atomic_load(&at.calls), want);
}

static void record(int32_t cookie)
{
    int n = atomic_load(&at.calls);

    if (n < 8)
        at.cookies[n] = cookie;
    at.done_in_callback = mli_mov_isdone(&at.h);
    atomic_fetch_add(&at.calls, 1);
}

static void begin(void (*callback)(int32_t), int32_t cookie)
{
    memset(&at, 0, sizeof(at));
    tile_init(&at.tile, MLI_EL_FX_16);
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &at.h));
    assert_ok(tile_prepare(&at.tile, &at.h));
    assert_ok(mli_mov_registercallback(&at.h, callback, cookie));
}

static void run(void)
{
    assert_ok(mli_mov_start(&at.h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&at.h));
}

static void end(void)
{
    assert_ok(mli_mov_release_handle(&at.h));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

static void test_once_for_each_start(void **state)
{
    (void)state;
    begin(record, -77);
    assert_int_equal(atomic_load(&at.calls), 0);
    run();
    assert_calls(1);
    assert_int_equal(at.cookies[0], -77);
    assert_true(at.done_in_callback);
    run();
    assert_calls(2);
    assert_ok(mli_mov_wait(&at.h));
    (void)mli_mov_isdone(&at.h);
    end();
    assert_calls(2);
    assert_memory_equal(at.tile.out, at.tile.in, 48);
}

static void test_registration_outlives_prepare(void **state)
{
    (void)state;
    begin(record, 5);
    assert_ok(tile_prepare(&at.tile, &at.h));
    run();
    assert_calls(1);
    end();
}

static void test_registered_before_prepare(void **state)
{
    (void)state;
    begin(record, 5);
    assert_ok(mli_mov_release_handle(&at.h));
    assert_ok(mli_mov_acquire_handle(1, &at.h));
    assert_ok(mli_mov_registercallback(&at.h, record, 9));
    assert_ok(tile_prepare(&at.tile, &at.h));
    run();
    assert_calls(1);
    assert_int_equal(at.cookies[0], 9);
    end();
}

static void test_last_registration_counts(void **state)
{
    (void)state;
    begin(record, 1);
    assert_ok(mli_mov_registercallback(&at.h, record, 2));
    run();
    assert_calls(1);
    assert_int_equal(at.cookies[0], 2);
    assert_ok(mli_mov_registercallback(&at.h, NULL, 3)); /* no callback is registered any longer */
    run();
    end();
    assert_calls(1);
}

/* No transfer was started, so no callback is called. */
static void test_release_without_start(void **state)
{
    (void)state;
    begin(record, 1);
    end();
    assert_calls(0);
}

static void test_cleared_at_release(void **state)
{
    (void)state;
    begin(record, 1);
    assert_ok(mli_mov_release_handle(&at.h));
    assert_ok(mli_mov_acquire_handle(1, &at.h));
    assert_ok(tile_prepare(&at.tile, &at.h));
    run();
    end();
    assert_calls(0);
}

static void test_refused_start_has_no_callback(void **state)
{
    mli_mov_handle_t claimed;

    (void)state;
    begin(record, 1);
    end();
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &claimed));
    assert_ok(mli_mov_registercallback(&claimed, record, 1));
    assert_status(mli_mov_start(&claimed, NULL, NULL, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_release_handle(&claimed));
    assert_calls(0);
}

/*
 * Inside a callback, wait is refused. A start inside the callback makes the transfer running again,
 * until the callback returns.
 */
static void start_and_misuse(int32_t cookie)
{
    mli_mov_handle_t before;

    (void)cookie;
    if (atomic_fetch_add(&at.calls, 1) > 0)
        return;
    at.status[0] = mli_mov_wait(&at.h);
    memset(at.tile.out, 0, 48);
    at.status[1] = mli_mov_start(&at.h, NULL, NULL, NULL);
    unit_snapshot(&before, &at.h, sizeof(before));
    at.done_in_callback = mli_mov_isdone(&at.h);
    at.status[2] = tile_prepare(&at.tile, &at.h);
    at.status[3] = mli_mov_registercallback(&at.h, record, 1);
    at.status[4] = mli_mov_start(&at.h, NULL, NULL, NULL);
    at.status[5] = mli_mov_wait(&at.h);
    at.status[6] = mli_mov_release_handle(&at.h);
    at.status[7] =
        memcmp(&before, &at.h, sizeof(before)) == 0 ? MLI_STATUS_OK : MLI_STATUS_LARGE_ENUM;
}

static void test_every_call_while_running(void **state)
{
    (void)state;
    begin(start_and_misuse, 0);
    assert_ok(mli_mov_start(&at.h, NULL, NULL, NULL));
    assert_calls(2); /* one callback for the first start, one for the start inside the callback */
    assert_ok(mli_mov_wait(&at.h));
    assert_status(at.status[0], MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(at.status[1]);
    assert_false(at.done_in_callback);
    for (int i = 2; i < 7; i++)
        assert_status(at.status[i], MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(at.status[7]);
    assert_memory_equal(at.tile.out, at.tile.in, 48);
    end();
}

static void note_stack(void)
{
    char local;
    uintptr_t here = (uintptr_t)&local;

    at.lowest = at.lowest == 0 || here < at.lowest ? here : at.lowest;
    at.highest = here > at.highest ? here : at.highest;
}

static void prepare_and_start_next(int32_t cookie)
{
    (void)cookie;
    note_stack();
    atomic_fetch_add(&at.calls, 1);
    if (at.left-- == 0)
        return;
    at.tile.in[0] = (uint8_t)at.left;
    if (tile_prepare(&at.tile, &at.h) != MLI_STATUS_OK ||
        mli_mov_start(&at.h, NULL, NULL, NULL) != MLI_STATUS_OK)
        at.left = -1000;
}

static void *run_chain(void *unused)
{
    (void)unused;
    return mli_mov_start(&at.h, NULL, NULL, NULL) == MLI_STATUS_OK ? &at : NULL;
}

/*
 * Runs ten thousand transfers on a small stack, each started by the callback of the previous
 * transfer.
 */
static void test_chain_does_not_grow_the_stack(void **state)
{
    pthread_attr_t small;
    pthread_t thread;
    void *result;

    (void)state;
    begin(prepare_and_start_next, 0);
    at.left = 10000;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, run_chain, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    pthread_attr_destroy(&small);
    assert_non_null(result);
    assert_ok(mli_mov_synchronise(&at.h)); /* the callback may still run on a thread */
    assert_calls(10001);
    assert_int_equal(at.left, -1);
    assert_ok(mli_mov_wait(&at.h));
    assert_int_equal(at.tile.out[0], 0);
    assert_true(at.highest - at.lowest < 4096);
    end();
}

/* A callback may start another handle's transfer, and make a synchronous move. */
static mli_mov_handle_t other;
static struct tile other_tile, sync_tile;

static void begin_two(void (*callback)(int32_t))
{
    begin(callback, 0);
    end();
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    assert_ok(mli_mov_acquire_handle(1, &at.h));
    assert_ok(mli_mov_acquire_handle(1, &other));
    tile_init(&other_tile, MLI_EL_FX_8);
    assert_ok(tile_prepare(&at.tile, &at.h));
    assert_ok(tile_prepare(&other_tile, &other));
    assert_ok(mli_mov_registercallback(&at.h, callback, 0));
}

static void start_the_other(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&at.calls, 1);
    at.status[0] = mli_mov_start(&other, NULL, NULL, NULL);
    at.status[1] = tile_sync(&sync_tile);
}

static void test_callback_starts_another_handle(void **state)
{
    (void)state;
    begin_two(start_the_other);
    tile_init(&sync_tile, MLI_EL_FP_32);
    assert_ok(mli_mov_registercallback(&other, record, 4));
    run();
    assert_ok(mli_mov_synchronise(&at.h));
    assert_calls(2);
    assert_ok(at.status[0]);
    assert_ok(at.status[1]);
    assert_ok(mli_mov_wait(&other));
    assert_memory_equal(other_tile.out, other_tile.in, 24);
    assert_memory_equal(sync_tile.out, sync_tile.in, 96);
    assert_int_equal(at.cookies[1], 4);
    assert_ok(mli_mov_release_handle(&other));
    end();
}

static void release_it(int32_t cookie)
{
    (void)cookie;
    at.status[0] = mli_mov_release_handle(&at.h);
    at.status[1] = mli_mov_start(&at.h, NULL, NULL, NULL);
    atomic_fetch_add(&at.calls, 1);
}

/* The transfer is done when the callback runs, so the callback may release the handle. */
static void test_callback_releases_its_handle(void **state)
{
    (void)state;
    begin(release_it, 0);
    assert_ok(mli_mov_start(&at.h, NULL, NULL, NULL));
    assert_calls(1);
    assert_ok(at.status[0]);
    assert_status(at.status[1], MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_wait(&at.h), MLI_STATUS_ARGUMENT_ERROR);
    assert_memory_equal(at.tile.out, at.tile.in, 48);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

/* wait works again on this thread after the callback has returned. */
static void test_wait_after_a_callback(void **state)
{
    (void)state;
    begin(start_and_misuse, 0);
    run();
    assert_calls(2);
    assert_ok(mli_mov_registercallback(&at.h, NULL, 0));
    run();
    end();
}

/* Releases all channels, so that a failed test does not keep them from the next test. */
static int release_all(void **state)
{
    (void)state;
    (void)mli_mov_release_handle(&at.h);
    (void)mli_mov_release_handle(&other);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_once_for_each_start, release_all),
        cmocka_unit_test_teardown(test_registration_outlives_prepare, release_all),
        cmocka_unit_test_teardown(test_registered_before_prepare, release_all),
        cmocka_unit_test_teardown(test_last_registration_counts, release_all),
        cmocka_unit_test_teardown(test_release_without_start, release_all),
        cmocka_unit_test_teardown(test_cleared_at_release, release_all),
        cmocka_unit_test_teardown(test_refused_start_has_no_callback, release_all),
        cmocka_unit_test_teardown(test_every_call_while_running, release_all),
        cmocka_unit_test_teardown(test_chain_does_not_grow_the_stack, release_all),
        cmocka_unit_test_teardown(test_callback_starts_another_handle, release_all),
        cmocka_unit_test_teardown(test_callback_releases_its_handle, release_all),
        cmocka_unit_test_teardown(test_wait_after_a_callback, release_all),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
