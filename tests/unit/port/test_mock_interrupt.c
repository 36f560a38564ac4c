/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests completion by interrupts, with the mock port: transfers that callbacks start inside the
 * handler, pieces for the processor, errors and cancels. Interrupts come from a thread (as if from
 * another processor), or when the test lets time pass.
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/ports.h"
#include "mli_engine.h"
#include "tests/unit/port/moves.h"

enum { CHAIN = 100, THREADS = 3, ROUNDS = 60 };

static int teardown(void **state)
{
    (void)state;
    mock_bus_poison(0, 0);
    if (mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK)
        return -1;
    return mli_mov_set_platform(NULL) == MLI_STATUS_OK ? 0 : -1;
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

static void finish(struct move *m, mli_mov_handle_t *h)
{
    assert_ok(mli_mov_synchronise(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

/* Lets time pass until all channels are idle. */
static void run_device(void)
{
    bool more = true;

    while (more) {
        more = false;
        for (uint32_t i = 0; i < MOCK_DEVICE_CHANNELS; i++)
            more |= mock_device_run(i, 1);
    }
}

static void test_waiting_thread_sleeps(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:interrupt=1", 2);
    assert_false(mli_mov_is_polled());
    move_init_padded(&m, 40, 60);
    move_prepare(&m, 2, &h);
    start(&h);
    assert_ok(mli_mov_wait(&h));
    finish(&m, &h);
    assert_int_equal(stats_of(0).completed + stats_of(1).completed, 2);
}

static _Atomic uint32_t calls;
static mli_mov_handle_t chained;

static void start_again(int32_t rounds)
{
    if (++calls < (uint32_t)rounds)
        (void)mli_mov_start(&chained, NULL, NULL, NULL);
}

/* The handler completes a transfer, and its callback starts the next one: submit inside done. */
static void chain(const char *spec)
{
    struct move m;

    moves_engine(spec, 1);
    move_init(&m, 2, 3, 4, 5);
    move_prepare(&m, 1, &chained);
    calls = 0;
    assert_ok(mli_mov_registercallback(&chained, start_again, CHAIN));
    start(&chained);
    run_device();
    assert_ok(mli_mov_synchronise(&chained));
    assert_int_equal(calls, CHAIN);
    finish(&m, &chained);
    assert_int_equal(stats_of(0).completed, CHAIN);
    moves_engine_away();
}

static void test_callback_starts_inside_the_handler(void **state)
{
    (void)state;
    chain("mock:interrupt=1");
    chain("mock:interrupt=2");
    chain("mock:interrupt=2,loops=0,unit=4,ring=1");
    chain("mock:interrupt=2,worth=64");
    chain("fault:mock,interrupt=2,reorder_pct=50");
}

/*
 * A transfer without descriptors causes no interrupt: the thread that starts the transfer also
 * moves it.
 */
static void test_only_pieces_of_the_processor(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:interrupt=2,loops=0,worth=64", 1);
    move_init(&m, 64, 64, 1, 1);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_true(mli_mov_isdone(&h));
    assert_int_equal(stats_of(0).cpu_bytes, 64 * 64);
    assert_int_equal(stats_of(0).cpu_pieces, 1);
    assert_int_equal(mock_device_read(0, MOCK_TAIL), 0);
    finish(&m, &h);
}

static uint32_t pended;

static void pend(uint32_t channel)
{
    assert_int_equal(channel, 0);
    pended++;
}

/*
 * On a platform that can set an interrupt pending, each call of the handler moves one of the
 * processor's pieces.
 */
static void test_pieces_in_pended_interrupts(void **state)
{
    const struct mli_platform platform = {.size = sizeof platform, .pend = pend};
    struct move m;
    mli_mov_handle_t h;
    uint32_t interrupts = 0;

    (void)state;
    assert_ok(mli_mov_set_platform(&platform));
    moves_engine("mock:interrupt=2,loops=0,worth=64", 1);
    move_init(&m, 128, 128, 1, 1);
    move_prepare(&m, 1, &h);
    pended = 0;
    start(&h);
    assert_int_equal(move_written(&m), 0);
    while (!mli_mov_isdone(&h)) {
        assert_int_equal(pended, interrupts + 1);
        mli_mov_interrupt(0);
        interrupts++;
    }
    assert_int_equal(interrupts, 128 * 128 / MLI_PIECE_CPU_BYTES);
    finish(&m, &h);
}

/* The processor moves the heads and tails of rows after the device's descriptors. */
static void test_heads_and_tails(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:interrupt=2,unit=8", 1);
    move_init_rows(&m, 5, 64);
    m.cfg.size[1] = 61;
    m.dst.mem_stride[0] = 64;
    m.dst.mem_stride[1] = 1;
    move_prepare(&m, 1, &h);
    start(&h);
    run_device();
    assert_true(mli_mov_isdone(&h));
    assert_int_equal(stats_of(0).bytes, 5 * 61);
    assert_int_equal(stats_of(0).cpu_bytes, 5 * 5);
    assert_ok(mli_mov_release_handle(&h));
    move_finish(&m);
}

static mli_mov_status_t status_of(const mli_mov_handle_t *h)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    return status;
}

static void test_cancel(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:interrupt=2,loops=0", 1);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    mock_device_run(0, 2);
    assert_ok(mli_mov_cancel(&h));
    assert_false(mli_mov_isdone(&h)); /* the device must confirm the stop */
    run_device();
    assert_true(mli_mov_isdone(&h));
    assert_int_equal(status_of(&h).code, MLI_STATUS_CANCELLED);
    assert_int_equal(status_of(&h).row, 2);
    start(&h);
    run_device();
    finish(&m, &h);
}

static void test_bus_error(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:interrupt=1,loops=1", 1);
    move_init_rows(&m, 100, 8);
    move_prepare(&m, 1, &h);
    mock_bus_poison((uintptr_t)m.out + 37 * 8 + 5, 1);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_int_equal(status_of(&h).row, 37);
    mock_bus_poison(0, 0);
    start(&h);
    finish(&m, &h);
}

/* An interrupt that comes during a poll of the channel is not lost: the poll is repeated. */
static _Atomic bool stop;

static void *poll_all_the_time(void *context)
{
    const struct timespec pause = {.tv_nsec = 20000};

    (void)context;
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 100; i++)
            mli_mov_poll();
        nanosleep(&pause, NULL); /* a pause, because valgrind runs one thread until it waits */
    }
    return NULL;
}

static void test_interrupts_beside_polls(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    pthread_t poller;

    (void)state;
    moves_engine("mock:interrupt=1,ring=1,loops=0", 1);
    move_init(&m, 2, 3, 2, 3);
    move_prepare(&m, 1, &h);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&poller, NULL, poll_all_the_time, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        start(&h);
        assert_ok(mli_mov_wait(&h));
    }
    atomic_store(&stop, true);
    pthread_join(poller, NULL);
    finish(&m, &h);
}

static void *start_and_cancel(void *context)
{
    const uint32_t salt = *(const uint32_t *)context;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct move m;
        mli_mov_handle_t h;
        mli_status status;

        move_init(&m, 2 + salt, 3, 1 + i % 5, 4);
        move_prepare(&m, 1, &h);
        start(&h);
        if (i % 3 == 0)
            assert_ok(mli_mov_cancel(&h));
        status = mli_mov_wait(&h);
        assert_true(status == MLI_STATUS_OK || (i % 3 == 0 && status == MLI_STATUS_CANCELLED));
        if (status == MLI_STATUS_CANCELLED)
            start(&h);
        finish(&m, &h);
    }
    return NULL;
}

static void test_threads(void **state)
{
    uint32_t salts[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    moves_engine("mock:interrupt=1,loops=1,unit=4", THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        salts[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, start_and_cancel, &salts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Any number may be passed: that of a channel outside of the pool, or of no channel. */
static void test_strange_channels(void **state)
{
    (void)state;
    moves_engine("mock:interrupt=2", 1);
    for (uint32_t i = 0; i < 40; i++)
        mli_mov_interrupt(i);
    mli_mov_interrupt(UINT32_MAX);
    mli_channel_again(UINT32_MAX);
}

/*
 * Tests may call submit and poll of a driver directly. mli_channel_again() must accept this.
 */
static void test_again_outside_of_polls(void **state)
{
    (void)state;
    moves_engine("mock:interrupt=2", 1);
    mli_channel_again(0);
    moves_engine_away();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_waiting_thread_sleeps, teardown),
        cmocka_unit_test_teardown(test_callback_starts_inside_the_handler, teardown),
        cmocka_unit_test_teardown(test_only_pieces_of_the_processor, teardown),
        cmocka_unit_test_teardown(test_pieces_in_pended_interrupts, teardown),
        cmocka_unit_test_teardown(test_heads_and_tails, teardown),
        cmocka_unit_test_teardown(test_cancel, teardown),
        cmocka_unit_test_teardown(test_bus_error, teardown),
        cmocka_unit_test_teardown(test_interrupts_beside_polls, teardown),
        cmocka_unit_test_teardown(test_threads, teardown),
        cmocka_unit_test_teardown(test_strange_channels, teardown),
        cmocka_unit_test_teardown(test_again_outside_of_polls, teardown),
    };

    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
