/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles without channels: the thread that starts a transfer also moves the data, with every
 * engine and in every state of the channel pool.
 */
#include <pthread.h>
#include <string.h>

#include "tests/support/load.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

enum { AT_A_TIME = 16, THREADS = 4, ROUNDS = 500 };

static mli_mov_handle_t handles[AT_A_TIME];

static int empty_pool(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static mli_mov_stage stage_of(const mli_mov_handle_t *h)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    return status.stage;
}

/* Runs a handle from the claim to the release, and a second time from prepare on. */
static void live(mli_mov_handle_t *h)
{
    mli_mov_status_t status;
    struct tile t;

    assert_ok(mli_mov_acquire_handle(0, h));
    assert_int_equal(stage_of(h), MLI_MOV_CLAIMED);
    assert_false(mli_mov_isdone(h));
    assert_status(mli_mov_wait(h), MLI_STATUS_ARGUMENT_ERROR);
    for (int i = 0; i < 2; i++) {
        tile_init(&t, MLI_EL_FX_16);
        assert_ok(tile_prepare(&t, h));
        assert_int_equal(t.out[0], 0xA5);
        assert_false(mli_mov_isdone(h));
        assert_ok(mli_mov_start(h, NULL, NULL, NULL));
        assert_memory_equal(t.out, t.in, 48);
        assert_true(mli_mov_isdone(h));
        assert_ok(mli_mov_wait(h));
        assert_ok(mli_mov_synchronise(h));
        assert_ok(mli_mov_cancel(h)); /* the transfer was done before the cancel */
        assert_ok(mli_mov_get_status(h, &status));
        assert_int_equal(status.stage, MLI_MOV_DONE);
        assert_int_equal(status.code, MLI_STATUS_OK);
        assert_int_equal(status.bytes, 48);
    }
    assert_ok(mli_mov_release_handle(h));
    assert_false(mli_mov_isdone(h));
    assert_status(mli_mov_release_handle(h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_start(h, NULL, NULL, NULL), MLI_STATUS_ARGUMENT_ERROR);
}

static void test_life_with_an_empty_pool(void **state)
{
    (void)state;
    live(&handles[0]);
}

/* Other handles have claimed all channels; the statistics of these channels do not change. */
static void test_life_with_an_exhausted_pool(void **state)
{
    mli_mov_channel_stats stats;
    mli_mov_handle_t all;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    assert_ok(mli_mov_acquire_handle(2, &all));
    live(&handles[0]);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.submitted, 0);
    assert_ok(mli_mov_release_handle(&all));
}

static void test_limit_of_handles_without_channels(void **state)
{
    mli_mov_handle_t extra, before;

    (void)state;
    for (int i = 0; i < AT_A_TIME; i++)
        assert_ok(mli_mov_acquire_handle(0, &handles[i]));
    memset(&extra, 0x5A, sizeof(extra));
    memcpy(&before, &extra, sizeof(extra));
    assert_status(mli_mov_acquire_handle(0, &extra), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&extra, &before, sizeof(extra));
    assert_ok(mli_mov_release_handle(&handles[5]));
    live(&extra);
    for (int i = 0; i < AT_A_TIME; i++) {
        if (i != 5)
            assert_ok(mli_mov_release_handle(&handles[i]));
    }
    live(&extra);
}

/* A handle without channels does not depend on pool and engine, which may change between its calls.
 */
static void test_pool_changes_meanwhile(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(mli_mov_acquire_handle(0, &handles[0]));
    assert_ok(tile_prepare(&t, &handles[0]));
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine("inline"));
    assert_ok(mli_mov_start(&handles[0], NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&handles[0]));
    assert_memory_equal(t.out, t.in, 24);
    assert_ok(mli_mov_release_handle(&handles[0]));
    unit_restore_engine();
}

static void test_callback_comes_before_start_returns(void **state)
{
    struct load load;

    (void)state;
    load_init_padded(&load, 3);
    load_claim(&load, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_ok(mli_mov_start(&load.h, NULL, NULL, NULL));
        assert_int_equal(load_calls(3), i);
    }
    assert_ok(mli_mov_release_handle(&load.h));
    load_finish(&load);
}

/* A copy of a released handle is stale, even if the pool has given its slot to another handle. */
static void test_stale_copies(void **state)
{
    mli_mov_handle_t copy;

    (void)state;
    assert_ok(mli_mov_acquire_handle(0, &handles[0]));
    memcpy(&copy, &handles[0], sizeof(copy));
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_ok(mli_mov_acquire_handle(0, &handles[0]));
    assert_false(mli_mov_isdone(&copy));
    assert_status(mli_mov_release_handle(&copy), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_release_handle(&handles[0]));
}

static void *move_often(void *argument)
{
    struct load *load = argument;
    uint32_t moved = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (mli_mov_acquire_handle(0, &load->h) != MLI_STATUS_OK)
            continue;
        load->in[i % (int)load->in_bytes]++;
        moved += mli_mov_prepare(&load->h, &load->src, &load->cfg, &load->dst) == MLI_STATUS_OK &&
                 mli_mov_start(&load->h, NULL, NULL, NULL) == MLI_STATUS_OK &&
                 mli_mov_wait(&load->h) == MLI_STATUS_OK && load_is_moved(load);
        moved -= mli_mov_release_handle(&load->h) != MLI_STATUS_OK;
    }
    return moved == ROUNDS ? load : NULL;
}

static void test_threads(void **state)
{
    struct load loads[THREADS];
    pthread_t threads[THREADS];
    void *moved;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        load_init_rows(&loads[i], i, 16, 64, 3);
        assert_int_equal(pthread_create(&threads[i], NULL, move_often, &loads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &moved), 0);
        assert_non_null(moved);
        load_finish(&loads[i]);
    }
}

#define NO_CHANNEL_TEST(name) cmocka_unit_test_setup(name, empty_pool)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        NO_CHANNEL_TEST(test_life_with_an_empty_pool),
        NO_CHANNEL_TEST(test_life_with_an_exhausted_pool),
        NO_CHANNEL_TEST(test_limit_of_handles_without_channels),
        NO_CHANNEL_TEST(test_pool_changes_meanwhile),
        NO_CHANNEL_TEST(test_callback_comes_before_start_returns),
        NO_CHANNEL_TEST(test_stale_copies),
        NO_CHANNEL_TEST(test_threads),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
