/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the child of a fork, which has the parent's channels and handles, but none of its other
 * threads: no call waits for these threads, transfers of the parent are over, and new ones run.
 */
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static mli_mov_handle_t handle; /* claimed by the parent */
static struct tile tile;        /* the transfer of that handle */

static bool runs(mli_mov_handle_t *h)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    return tile_prepare(&t, h) == MLI_STATUS_OK &&
           mli_mov_start(h, NULL, NULL, NULL) == MLI_STATUS_OK &&
           mli_mov_wait(h) == MLI_STATUS_OK && memcmp(t.out, t.in, 48) == 0;
}

static bool moves(void)
{
    mli_mov_handle_t h;

    return mli_mov_acquire_handle(1, &h) == MLI_STATUS_OK && runs(&h) &&
           mli_mov_release_handle(&h) == MLI_STATUS_OK;
}

static bool moves_on_all_channels(void)
{
    for (int i = 0; i < 4; i++) {
        mli_mov_handle_t h;

        if (mli_mov_acquire_handle_at(i, 1, &h) != MLI_STATUS_OK || !runs(&h) ||
            mli_mov_release_handle(&h) != MLI_STATUS_OK)
            return false;
    }
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK;
}

static bool moves_on_a_new_pool(void)
{
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
           mli_mov_set_num_dma_ch(0, 3) == MLI_STATUS_OK && moves() &&
           mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK;
}

/* Some channels stay in the pool, and others join. */
static bool moves_on_a_changed_pool(void)
{
    return mli_mov_set_num_dma_ch(0, 2) == MLI_STATUS_OK && moves() &&
           mli_mov_set_num_dma_ch(1, 5) == MLI_STATUS_OK && moves() &&
           mli_mov_set_engine("inline") == MLI_STATUS_ARGUMENT_ERROR &&
           mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK;
}

static bool moves_synchronously(void)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    return tile_sync(&t) == MLI_STATUS_OK && memcmp(t.out, t.in, 48) == 0;
}

/* Runs a function in a child, which must return true there within some seconds. */
static void assert_in_child(bool (*function)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* a wait that hangs must fail the test */
        _exit(function() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void set_pool(const char *engine)
{
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* threads cannot start in this child, or hang in the sanitizer's locks */
#endif
    assert_ok(mli_mov_set_engine(engine));
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
}

static int empty_pool(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void test_channels(void **state)
{
    static bool (*const children[])(void) = {moves_on_a_new_pool, moves_on_a_changed_pool,
                                             moves_on_all_channels, moves_synchronously};

    (void)state;
    set_pool("threads:tiny=0");
    for (size_t i = 0; i < COUNT_OF(children); i++) {
        assert_in_child(children[i]); /* before the first fork, the parent has moved nothing */
        assert_true(moves());         /* the parent's threads still work */
    }
}

static void test_faults(void **state)
{
    (void)state;
    set_pool("fault:threads,reorder_pct=50");
    assert_in_child(moves_synchronously);
    assert_in_child(moves_on_all_channels);
    assert_true(moves());
}

static int calls;

static void count_call(int32_t cookie)
{
    (void)cookie;
    calls++;
}

/* The parent's transfer, which nobody continues here, has failed. Its handle can run again. */
static bool finds_a_failed_transfer(void)
{
    mli_mov_channel_stats stats;
    mli_mov_status_t status;
    bool all = mli_mov_isdone(&handle) && mli_mov_wait(&handle) == MLI_STATUS_DMA_ERROR &&
               mli_mov_cancel(&handle) == MLI_STATUS_OK &&
               mli_mov_synchronise(&handle) == MLI_STATUS_OK && calls == 0;

    all = all && mli_mov_get_status(&handle, &status) == MLI_STATUS_OK &&
          status.stage == MLI_MOV_DONE && status.code == MLI_STATUS_DMA_ERROR && !status.address;
    all = all && mli_mov_get_channel_stats(0, &stats) == MLI_STATUS_OK && stats.failed == 1 &&
          stats.submitted == 1;
    return all && runs(&handle) && calls == 1 && mli_mov_release_handle(&handle) == MLI_STATUS_OK &&
           moves_on_a_new_pool();
}

static bool releases_at_once(void)
{
    return mli_mov_release_handle(&handle) == MLI_STATUS_OK && moves_on_a_changed_pool();
}

/* Starts a transfer whose parts are stuck: in the parent it ends only after a cancel. */
static void start_endless(int channels)
{
    assert_ok(mli_mov_acquire_handle(channels, &handle));
    assert_ok(mli_mov_registercallback(&handle, count_call, 0));
    tile_init(&tile, MLI_EL_FX_16);
    assert_ok(tile_prepare(&tile, &handle));
    calls = 0;
    assert_ok(mli_mov_start(&handle, NULL, NULL, NULL));
}

static void test_running_transfer(void **state)
{
    (void)state;
    set_pool("fault:threads,stick=1");
    start_endless(1);
    assert_in_child(finds_a_failed_transfer);
    assert_in_child(releases_at_once);
    assert_false(mli_mov_isdone(&handle));
    assert_ok(mli_mov_cancel(&handle));
    assert_status(mli_mov_wait(&handle), MLI_STATUS_CANCELLED);
    assert_int_equal(calls, 1);
    assert_ok(mli_mov_release_handle(&handle));
}

/* One part is done, the other is not. */
static void test_running_parts(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    set_pool("fault:threads,stick=1");
    start_endless(2);
    do
        assert_ok(mli_mov_get_channel_stats(1, &stats));
    while (stats.completed < stats.submitted);
    assert_in_child(releases_at_once);
    assert_ok(mli_mov_cancel(&handle));
    assert_status(mli_mov_wait(&handle), MLI_STATUS_CANCELLED);
    assert_ok(mli_mov_release_handle(&handle));
}

static sem_t in_callback, leave_callback;

static void block(int32_t cookie)
{
    (void)cookie;
    sem_post(&in_callback);
    sem_wait(&leave_callback);
}

/* The callback runs in the parent alone. */
static bool does_not_wait_for_the_callback(void)
{
    return mli_mov_wait(&handle) == MLI_STATUS_OK &&
           mli_mov_synchronise(&handle) == MLI_STATUS_OK &&
           mli_mov_release_handle(&handle) == MLI_STATUS_OK && moves_on_a_new_pool();
}

static void test_running_callback(void **state)
{
    (void)state;
    set_pool("threads:tiny=0");
    sem_init(&in_callback, 0, 0);
    sem_init(&leave_callback, 0, 0);
    assert_ok(mli_mov_acquire_handle(1, &handle));
    assert_ok(mli_mov_registercallback(&handle, block, 0));
    tile_init(&tile, MLI_EL_FX_16);
    assert_ok(tile_prepare(&tile, &handle));
    assert_ok(mli_mov_start(&handle, NULL, NULL, NULL));
    sem_wait(&in_callback);
    assert_in_child(does_not_wait_for_the_callback);
    sem_post(&leave_callback);
    assert_ok(mli_mov_wait(&handle));
    assert_ok(mli_mov_release_handle(&handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_channels, empty_pool),
        cmocka_unit_test_teardown(test_faults, empty_pool),
        cmocka_unit_test_teardown(test_running_transfer, empty_pool),
        cmocka_unit_test_teardown(test_running_parts, empty_pool),
        cmocka_unit_test_teardown(test_running_callback, empty_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
