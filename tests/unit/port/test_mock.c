/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests moves with the mock port: every byte must be right, for all sizes of the ring and all
 * limits.
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/mock/mock_engine.h"
#include "libmli/port/ports.h"
#include "tests/unit/port/moves.h"

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < MOCK_DEVICE_CHANNELS; i++)
        mock_device_set_pace(i, 1);
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK ? 0 : -1;
}

static mli_mov_channel_stats stats_of(int channel)
{
    mli_mov_channel_stats stats;

    assert_ok(mli_mov_get_channel_stats(channel, &stats));
    return stats;
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

/* Runs a prepared move to its end, checks it and releases it. */
static void finish(struct move *m, mli_mov_handle_t *h)
{
    assert_ok(mli_mov_wait(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

/* The driver cuts off the outer loops, for any size of the ring and any number of hardware loops.
 */
static void test_nests_are_peeled(void **state)
{
    char spec[64];

    (void)state;
    for (unsigned loops = 0; loops <= MOCK_LOOPS; loops++) {
        for (unsigned ring = 1; ring <= MOCK_RING_MAX; ring++) {
            struct move m;
            mli_mov_handle_t h;

            snprintf(spec, sizeof(spec), "mock:ring=%u,loops=%u", ring, loops);
            moves_engine(spec, 1);
            move_init(&m, 3, 4, 5, 6);
            move_prepare(&m, 1, &h);
            start(&h);
            finish(&m, &h);
            assert_int_equal(stats_of(0).queue_high_water, ring);
            assert_int_equal(stats_of(0).rows, 3 * 4 * 5 * 6);
            moves_engine_away();
        }
    }
}

/*
 * While the device is stopped, the driver fills the ring; descriptors that are completed later make
 * room for others.
 */
static void test_ring_full_and_refilled(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=4,loops=0", 1);
    mock_device_set_pace(0, 0);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_int_equal(mock_device_read(0, MOCK_HEAD), 0);
    assert_int_equal(mock_device_read(0, MOCK_TAIL), 4);
    assert_int_equal(mli_mov_poll(), 0);
    assert_int_equal(mock_device_read(0, MOCK_TAIL), 4);
    assert_int_equal(move_written(&m), 0);

    mock_device_run(0, 2);
    assert_int_equal(move_written(&m), 2 * 3);
    assert_int_equal(mli_mov_poll(), 2);
    assert_int_equal(mock_device_read(0, MOCK_HEAD), 2);
    assert_int_equal(mock_device_read(0, MOCK_TAIL), 1); /* 6 descriptors in a ring of 5 slots */

    mock_device_run(0, 100);
    assert_int_equal(move_written(&m), 6 * 3);
    assert_int_equal(mli_mov_poll(), 4);
    mock_device_set_pace(0, 1);
    finish(&m, &h);
    assert_int_equal(stats_of(0).queue_high_water, 4);
}

/* Work items begin in any slot of the ring, where the work item before has ended. */
static void test_ring_wraps(void **state)
{
    uint32_t seen = 0;

    (void)state;
    moves_engine("mock:ring=6,loops=0", 1);
    for (int i = 0; i < 50; i++) {
        struct move m;
        mli_mov_handle_t h;

        move_init_rows(&m, 3 + (uint32_t)i % 5, 5);
        move_prepare(&m, 1, &h);
        start(&h);
        finish(&m, &h);
        seen |= 1u << mock_device_read(0, MOCK_HEAD);
    }
    /* Each of the 7 slots was the last slot of a work item. */
    assert_int_equal(seen, (1u << 7) - 1);
}

static void move_with_limits(struct move *m, uint64_t descriptors)
{
    mli_mov_handle_t h;
    uint64_t completed = 0;

    move_prepare(m, 1, &h);
    start(&h);
    while (!mli_mov_isdone(&h)) /* isdone polls too: at most one descriptor at this pace */
        completed++;
    assert_int_equal(completed + 1, descriptors);
    finish(m, &h);
}

static void test_limits_of_fields(void **state)
{
    struct move m;

    (void)state;
    moves_engine("mock", 1);
    move_init_rows(&m, MOCK_COUNT_MAX, 1);
    move_with_limits(&m, 1);
    move_init_rows(&m, MOCK_COUNT_MAX + 1, 1);
    move_with_limits(&m, 2);
    move_init_rows(&m, 3, MOCK_RUN_MAX);
    move_with_limits(&m, 1);
    move_init_rows(&m, 3, MOCK_RUN_MAX + 1);
    move_with_limits(&m, 6);
    /*
     * Groups of eight rows are one run each, but the step of the source between the groups exceeds
     * the limit.
     */
    move_init_rows(&m, 4, MOCK_STEP_MAX / 2 + 1);
    move_with_limits(&m, 4 * ((MOCK_STEP_MAX / 2 + 1 + MOCK_RUN_MAX - 1) / MOCK_RUN_MAX));
}

static _Atomic uint32_t calls;
static mli_mov_handle_t chained;

static void count_calls(int32_t cookie)
{
    calls += (uint32_t)cookie;
}

static void start_again(int32_t rounds)
{
    if (++calls < (uint32_t)rounds)
        (void)mli_mov_start(&chained, NULL, NULL, NULL);
}

/* mli_mov_poll() alone completes transfers and calls callbacks. */
static void test_poll_calls_callbacks(void **state)
{
    struct move m[3];
    mli_mov_handle_t h[3];
    uint32_t polled = 0;

    (void)state;
    moves_engine("mock:loops=1", 3);
    assert_true(mli_mov_is_polled());
    calls = 0;
    for (int i = 0; i < 3; i++) {
        move_init(&m[i], 2, 3, 4, 5 + (uint32_t)i);
        move_prepare(&m[i], 1, &h[i]);
        assert_ok(mli_mov_registercallback(&h[i], count_calls, 1));
        start(&h[i]);
    }
    for (int i = 0; i < 1000 && calls < 3; i++)
        polled += mli_mov_poll();
    assert_int_equal(calls, 3);
    assert_int_equal(polled, (5 + 6 + 7) * 4 * 3); /* without the innermost loop of 2 */
    for (int i = 0; i < 3; i++)
        finish(&m[i], &h[i]);
}

/* Calls submit from inside done, for the channel whose work item is done. */
static void test_callback_starts_again(void **state)
{
    struct move m;

    (void)state;
    moves_engine("mock:ring=2", 1);
    move_init_padded(&m, 4, 7);
    move_prepare(&m, 1, &chained);
    calls = 0;
    assert_ok(mli_mov_registercallback(&chained, start_again, 100));
    start(&chained);
    assert_ok(mli_mov_synchronise(&chained));
    assert_int_equal(calls, 100);
    finish(&m, &chained);
}

/* Moves the parts of one transfer on several channels. */
static void test_split(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock", MOCK_DEVICE_CHANNELS);
    move_init_padded(&m, 300, 500);
    move_prepare(&m, MOCK_DEVICE_CHANNELS, &h);
    start(&h);
    finish(&m, &h);
    for (int i = 0; i < MOCK_DEVICE_CHANNELS; i++)
        assert_int_equal(stats_of(i).completed, 1);
}

static void test_sync_takes_a_channel(void **state)
{
    struct move m;

    (void)state;
    moves_engine("mock", 1);
    move_init(&m, 4, 3, 2, 5);
    assert_ok(mli_mov_tensor_sync(&m.src, &m.cfg, &m.dst));
    assert_true(move_is_right(&m));
    assert_int_equal(stats_of(0).completed, 1);
    move_finish(&m);
}

/* The engine calls done() for the last part while the device is still busy. */
static void test_synchronise_waits_for_the_device(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock", 1);
    move_init_rows(&m, 2, 2);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_ok(mli_mov_wait(&h));
    mock_device_set_pace(0, 0); /* from now on, reading STATUS does not change anything */
    assert_int_equal(mock_device_read(0, MOCK_STATUS), MOCK_BUSY);
    mock_device_set_pace(0, 1);
    assert_ok(mli_mov_synchronise(&h));
    mock_device_set_pace(0, 0);
    assert_int_equal(mock_device_read(0, MOCK_STATUS), 0);
    finish(&m, &h);
}

static void test_options(void **state)
{
    static const char *const refused[] = {"mock:ring=0",   "mock:ring=9", "mock:loops=3",
                                          "mock:rings=2",  "mock:rin=2",  "mock:ring",
                                          "fault:mock,x=1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        assert_status(mli_mov_set_engine(refused[i]), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_set_engine("mock:ring=8,loops=0"));
    assert_string_equal(mli_mov_engine_name(), "mock");
    assert_status(mli_mov_set_num_dma_ch(0, MOCK_DEVICE_CHANNELS + 1), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_set_engine("mock"));
}

static void *move_many(void *context)
{
    const uint32_t salt = *(const uint32_t *)context;

    for (uint32_t i = 0; i < 60; i++) {
        struct move m;
        mli_mov_handle_t h;

        move_init(&m, 2 + salt, 3, 1 + i % 5, 4);
        move_prepare(&m, 1, &h);
        start(&h);
        if (i % 3 == 0)
            mli_mov_poll(); /* also polls the other thread's channel */
        finish(&m, &h);
    }
    return NULL;
}

static void test_two_threads(void **state)
{
    uint32_t salts[2] = {0, 1};
    pthread_t threads[2];

    (void)state;
    moves_engine("mock:ring=3,loops=1", 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, move_many, &salts[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(stats_of(0).completed + stats_of(1).completed, 120);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_nests_are_peeled, teardown),
        cmocka_unit_test_teardown(test_ring_full_and_refilled, teardown),
        cmocka_unit_test_teardown(test_ring_wraps, teardown),
        cmocka_unit_test_teardown(test_limits_of_fields, teardown),
        cmocka_unit_test_teardown(test_poll_calls_callbacks, teardown),
        cmocka_unit_test_teardown(test_callback_starts_again, teardown),
        cmocka_unit_test_teardown(test_split, teardown),
        cmocka_unit_test_teardown(test_sync_takes_a_channel, teardown),
        cmocka_unit_test_teardown(test_synchronise_waits_for_the_device, teardown),
        cmocka_unit_test_teardown(test_options, teardown),
        cmocka_unit_test_teardown(test_two_threads, teardown),
    };

    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
