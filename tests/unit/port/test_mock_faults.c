/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the mock port when transfers are cancelled, and when the device fails. */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/ports.h"
#include "tests/unit/port/moves.h"

static int teardown(void **state)
{
    (void)state;
    mock_bus_poison(0, 0);
    for (uint32_t i = 0; i < MOCK_DEVICE_CHANNELS; i++)
        mock_device_set_pace(i, 1);
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK ? 0 : -1;
}

static mli_mov_status_t status_of(const mli_mov_handle_t *h)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    return status;
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

/* Runs the move again, which must succeed on the same channel, and releases the handle. */
static void finish_well(struct move *m, mli_mov_handle_t *h)
{
    mock_bus_poison(0, 0);
    start(h);
    assert_ok(mli_mov_wait(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

static void assert_place(const mli_mov_handle_t *h, mli_status code, uint32_t descriptor,
                         uint64_t row, uint64_t bytes)
{
    const mli_mov_status_t status = status_of(h);

    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.code, code);
    assert_int_equal(status.descriptor, descriptor);
    assert_int_equal(status.row, row);
    assert_int_equal(status.bytes, bytes);
}

/*
 * Cancels while pieces are in the ring: two pieces are done, two are in the ring, and the rest is
 * not cut yet.
 */
static void test_cancel_in_the_ring(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=4,loops=0", 1);
    mock_device_set_pace(0, 0);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    mock_device_run(0, 2);
    assert_ok(mli_mov_cancel(&h));
    for (int i = 0; i < 3; i++)
        assert_false(mli_mov_isdone(&h)); /* the device is still running */
    mock_device_set_pace(0, 1);
    assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_place(&h, MLI_STATUS_CANCELLED, 0, 2, 6);
    assert_int_equal(move_written(&m), 6);
    assert_int_equal(mock_device_read(0, MOCK_HEAD), 0);
    finish_well(&m, &h);
}

/* Cancels after the pieces in the ring are done, while the plan has further pieces. */
static void test_cancel_after_the_ring(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=4,loops=0", 1);
    mock_device_set_pace(0, 0);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    mock_device_run(0, 10);
    assert_ok(mli_mov_cancel(&h));
    mock_device_set_pace(0, 1);
    assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_place(&h, MLI_STATUS_CANCELLED, 0, 4, 12);
    assert_int_equal(move_written(&m), 12);
    finish_well(&m, &h);
}

/* Cancels too late: every byte is written, and the transfer is OK. */
static void test_cancel_of_a_complete_transfer(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=4,loops=0", 1);
    mock_device_set_pace(0, 0);
    move_init_rows(&m, 4, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    mock_device_run(0, 10);
    assert_ok(mli_mov_cancel(&h));
    mock_device_set_pace(0, 1);
    assert_ok(mli_mov_wait(&h));
    finish_well(&m, &h);
}

/* An error names the row of the plan, independent of the number of hardware loops. */
static void test_bus_error_has_the_row(void **state)
{
    static const char *const specs[] = {"mock:loops=0", "mock:loops=1", "mock"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct move m;
        mli_mov_handle_t h;

        moves_engine(specs[i], 1);
        move_init_rows(&m, 100, 8);
        move_prepare(&m, 1, &h);
        mock_bus_poison((uintptr_t)m.out + 37 * 8 + 5, 1);
        start(&h);
        assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
        assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 37, 37 * 8);
        assert_int_equal(move_written(&m), 37 * 8);
        finish_well(&m, &h);
        moves_engine_away();
    }
}

static void test_bus_error_in_a_nest(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=2", 1);
    move_init(&m, 3, 4, 5, 6);
    move_prepare(&m, 1, &h);
    mock_bus_poison((uintptr_t)m.out + 211, 4); /* rows are single bytes in this move */
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 211, 211);
    assert_int_equal(move_written(&m), 211);
    finish_well(&m, &h);
}

/* The rows of one hardware descriptor need not be consecutive in the plan. */
static void test_bus_error_with_any_loops(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:any=1,loops=1", 1);
    move_init(&m, 3, 4, 50, 6);
    move_prepare(&m, 1, &h);
    mock_bus_poison((uintptr_t)m.out + 1000, 1);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_int_equal(status_of(&h).row, 1000);
    assert_ptr_equal(status_of(&h).address, m.out + 1000);
    assert_true(move_written(&m) == status_of(&h).bytes);
    finish_well(&m, &h);
}

/* Makes one error in the source, and one in a fill of zeros, which is a descriptor of its own. */
static void test_bus_error_in_source_and_fill(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;

    (void)state;
    moves_engine("mock", 1);
    move_init_padded(&m, 10, 6);
    move_prepare(&m, 1, &h);
    mock_bus_poison((uintptr_t)m.in + 4 * 6, 1);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 4, 4 * 6);

    mock_bus_poison((uintptr_t)m.out + m.out_bytes - 8, 8); /* the row of zeros below */
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    status = status_of(&h);
    assert_true(status.descriptor >= 1);
    assert_int_equal(status.row, 0);
    finish_well(&m, &h);
}

static void test_failed_descriptor(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("mock:ring=3,loops=0", 1);
    move_init_rows(&m, 50, 2);
    move_prepare(&m, 1, &h);
    mock_device_set_pace(0, 100); /* one poll sees the error and the descriptors before it */
    mock_device_fail_after(0, 31);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 31, 62);
    finish_well(&m, &h);
}

/*
 * One part fails: the parts after it stop, and the transfer ends with the status and the place of
 * that part.
 */
static void test_error_in_a_part(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_channel_stats stats;

    (void)state;
    moves_engine("mock:loops=0", 3);
    move_init_rows(&m, 300, 64);
    move_prepare(&m, 3, &h);
    mock_device_set_pace(1, 20);
    mock_device_fail_after(1, 7);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_int_equal(status_of(&h).channel, 1);
    assert_int_equal(status_of(&h).row, 7);
    assert_int_equal(move_written(&m), status_of(&h).bytes);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.completed, 1);
    assert_ok(mli_mov_get_channel_stats(1, &stats));
    assert_int_equal(stats.failed, 1);
    assert_ok(mli_mov_get_channel_stats(2, &stats));
    assert_int_equal(stats.cancelled, 1);
    finish_well(&m, &h);
}

/* A synchronous move returns the error, and does not change the destination's fields. */
static void test_sync_fails(void **state)
{
    struct move m;

    (void)state;
    moves_engine("mock", 1);
    move_init_rows(&m, 10, 4);
    mock_device_fail_after(0, 0);
    assert_status(mli_mov_tensor_sync(&m.src, &m.cfg, &m.dst), MLI_STATUS_DMA_ERROR);
    assert_int_equal(m.dst.rank, 0);
    assert_ok(mli_mov_tensor_sync(&m.src, &m.cfg, &m.dst));
    assert_true(move_is_right(&m));
    move_finish(&m);
}

static _Atomic bool stop;

static void *cancel_all_the_time(void *context)
{
    mli_mov_handle_t *h = context;

    for (uint32_t i = 0; !atomic_load(&stop); i++) {
        if (i % 16 == 0)
            (void)mli_mov_cancel(h);
        (void)mli_mov_poll();
    }
    return NULL;
}

/* Cancels at random moments, while two threads poll. */
static void cancel_many(const char *spec, int rounds)
{
    struct move m;
    mli_mov_handle_t h;
    pthread_t canceller;
    int cancelled = 0;

    moves_engine(spec, 2);
    move_init_rows(&m, 60, 4);
    move_prepare(&m, 2, &h);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&canceller, NULL, cancel_all_the_time, &h), 0);
    for (int i = 0; i < rounds; i++) {
        mli_status status;

        start(&h);
        status = mli_mov_wait(&h);
        assert_true(status == MLI_STATUS_OK || status == MLI_STATUS_CANCELLED);
        cancelled += status == MLI_STATUS_CANCELLED;
    }
    atomic_store(&stop, true);
    pthread_join(canceller, NULL);
    print_message("%s: %d of %d were cancelled\n", spec, cancelled, rounds);
    assert_ok(mli_mov_release_handle(&h));
    move_finish(&m);

    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    moves_engine("mock", 2);
    move_init_rows(&m, 60, 4);
    move_prepare(&m, 2, &h);
    finish_well(&m, &h);
}

static void test_cancel_from_another_thread(void **state)
{
    (void)state;
    cancel_many("mock:ring=3,loops=0", 2000);
}

/* One thread cancels and thereby ends stuck work items, while another thread may be inside poll. */
static void test_cancel_of_stuck_works(void **state)
{
    (void)state;
    cancel_many("fault:mock,ring=3,loops=0,stick_pct=40,reorder_pct=30", 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cancel_in_the_ring, teardown),
        cmocka_unit_test_teardown(test_cancel_after_the_ring, teardown),
        cmocka_unit_test_teardown(test_cancel_of_a_complete_transfer, teardown),
        cmocka_unit_test_teardown(test_bus_error_has_the_row, teardown),
        cmocka_unit_test_teardown(test_bus_error_in_a_nest, teardown),
        cmocka_unit_test_teardown(test_bus_error_with_any_loops, teardown),
        cmocka_unit_test_teardown(test_bus_error_in_source_and_fill, teardown),
        cmocka_unit_test_teardown(test_failed_descriptor, teardown),
        cmocka_unit_test_teardown(test_error_in_a_part, teardown),
        cmocka_unit_test_teardown(test_sync_fails, teardown),
        cmocka_unit_test_teardown(test_cancel_from_another_thread, teardown),
        cmocka_unit_test_teardown(test_cancel_of_stuck_works, teardown),
    };

    ports_add();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
