/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the statistics of channels, for moves with known numbers, and during moves. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "tests/support/load.h"
#include "tests/support/unit.h"

enum { CHANNELS = 4, TRANSFERS = 5000 };

static struct load load;

static int begin(void **state)
{
    (void)state;
    unit_restore_engine();
    return mli_mov_set_num_dma_ch(0, CHANNELS) != MLI_STATUS_OK;
}

static int end(void **state)
{
    (void)state;
    (void)mli_mov_synchronise(&load.h);
    (void)mli_mov_release_handle(&load.h);
    load_finish(&load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static mli_mov_channel_stats stats_of(int channel)
{
    mli_mov_channel_stats stats;

    assert_ok(mli_mov_get_channel_stats(channel, &stats));
    return stats;
}

static void run(void)
{
    load_start(&load);
    assert_ok(mli_mov_wait(&load.h));
}

static void assert_counted(int channel, uint64_t transfers, uint64_t bytes, uint64_t rows)
{
    const mli_mov_channel_stats stats = stats_of(channel);

    assert_int_equal(stats.submitted, transfers);
    assert_int_equal(stats.completed, transfers);
    assert_int_equal(stats.failed, 0);
    assert_int_equal(stats.cancelled, 0);
    assert_int_equal(stats.bytes, bytes);
    assert_int_equal(stats.rows, rows);
}

static void assert_nothing(int channel)
{
    static const mli_mov_channel_stats nothing;
    const mli_mov_channel_stats stats = stats_of(channel);

    assert_memory_equal(&stats, &nothing, sizeof(stats));
}

static void test_zeros_at_first(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 10, 30, 2);
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++)
        assert_nothing(i);
}

static void test_strided(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 10, 30, 2);
    load_claim(&load, 1);
    for (int i = 1; i <= 3; i++) {
        run();
        assert_counted(0, (uint64_t)i, (uint64_t)i * 300, (uint64_t)i * 10);
        assert_int_equal(stats_of(0).queue_high_water, 1);
    }
    assert_nothing(1);
}

/* A run that is contiguous on both sides is one row. */
static void test_contiguous(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 10, 30, 0);
    load_claim(&load, 1);
    run();
    assert_counted(0, 1, 300, 1);
}

/*
 * The plan has a copy and eight fills: 60 rows of 6 bytes, and fills around them whose rows may
 * merge.
 */
static void test_padded(void **state)
{
    (void)state;
    load_init_padded(&load, 1);
    load_claim(&load, 1);
    run();
    assert_int_equal(stats_of(0).bytes, 5 * 6 * 7 * 8);
    assert_int_equal(stats_of(0).queue_high_water, 9);
    assert_in_range(stats_of(0).rows, 60 + 8, 60 + (5 * 6 * 7 * 8 - 360));
    assert_int_equal(stats_of(0).completed, 1);
    assert_ok(mli_mov_release_handle(&load.h)); /* the high water mark stays after the release */
    load_finish(&load);
    load_init_rows(&load, 1, 10, 30, 2);
    load_claim(&load, 1);
    run();
    assert_int_equal(stats_of(0).queue_high_water, 9);
    assert_int_equal(stats_of(0).completed, 2);
}

/*
 * Each part counts on its own channel; synchronous moves, which the caller makes, count on no
 * channel.
 */
static void test_several_channels(void **state)
{
    uint64_t transfers = 0, bytes = 0, rows = 0;

    (void)state;
    load_init_rows(&load, 1, 4096, 100, 28);
    load_claim(&load, CHANNELS);
    run();
    for (int i = 0; i < CHANNELS; i++) {
        const mli_mov_channel_stats stats = stats_of(i);

        transfers += stats.completed;
        bytes += stats.bytes;
        rows += stats.rows;
    }
    assert_int_equal(transfers, CHANNELS);
    assert_int_equal(bytes, 409600);
    assert_int_equal(rows, 4096);
    load_freshen(&load);
    assert_ok(mli_mov_tensor_sync(&load.src, &load.cfg, &load.dst));
    assert_int_equal(stats_of(0).completed, 1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The busy time is at least the time of a move at 1 TB/s, and at most the measured time. */
static void test_busy_time(void **state)
{
    uint64_t took;

    (void)state;
    load_init_flat(&load, 1, 16 << 20);
    load_claim(&load, 1);
    took = now_ns();
    run();
    took = now_ns() - took;
    assert_in_range(stats_of(0).busy_ns, (16 << 20) / 1000, took);
}

/* A channel that joins the pool starts with zeros; a channel that stays keeps its numbers. */
static void test_rejoining_the_pool(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 10, 30, 2);
    load_claim(&load, 1);
    run();
    assert_ok(mli_mov_release_handle(&load.h));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_counted(0, 1, 300, 10);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_counted(0, 1, 300, 10); /* the numbers can be read after the channel has left the pool */
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_nothing(0);
}

static atomic_bool over;

static bool follows(const mli_mov_channel_stats *now, const mli_mov_channel_stats *before)
{
    const uint64_t ended = now->completed + now->failed + now->cancelled;

    return now->submitted >= before->submitted && now->completed >= before->completed &&
           now->failed >= before->failed && now->cancelled >= before->cancelled &&
           now->bytes >= before->bytes && now->rows >= before->rows &&
           now->busy_ns >= before->busy_ns && now->queue_high_water >= before->queue_high_water &&
           ended <= now->submitted && now->submitted - ended <= 1;
}

/* All numbers are read at one moment: they are the sums of whole transfers. */
static void *read_on_and_on(void *unused)
{
    mli_mov_channel_stats before = {0}, now;

    (void)unused;
    while (!atomic_load(&over)) {
        if (mli_mov_get_channel_stats(0, &now) != MLI_STATUS_OK || !follows(&now, &before) ||
            now.bytes != now.completed * 300 || now.rows != now.completed * 10)
            return NULL;
        before = now;
    }
    return &over;
}

static void test_read_while_running(void **state)
{
    pthread_t readers[2];
    void *right[2];

    (void)state;
    load_init_rows(&load, 1, 10, 30, 2);
    load_claim(&load, 1);
    atomic_store(&over, false);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on_and_on, NULL), 0);
    for (int i = 0; i < TRANSFERS; i++)
        run();
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(readers[i], &right[i]), 0);
    assert_non_null(right[0]);
    assert_non_null(right[1]);
    assert_counted(0, TRANSFERS, TRANSFERS * 300, TRANSFERS * 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_zeros_at_first, begin, end),
        cmocka_unit_test_setup_teardown(test_strided, begin, end),
        cmocka_unit_test_setup_teardown(test_contiguous, begin, end),
        cmocka_unit_test_setup_teardown(test_padded, begin, end),
        cmocka_unit_test_setup_teardown(test_several_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_busy_time, begin, end),
        cmocka_unit_test_setup_teardown(test_rejoining_the_pool, begin, end),
        cmocka_unit_test_setup_teardown(test_read_while_running, begin, end),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
