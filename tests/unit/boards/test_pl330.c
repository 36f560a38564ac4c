/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The port for the PL330 with a model of the controller: bus errors with their rows, kills, threads
 * that are stuck or do not start, and programs of any length.
 */
#include "tests/support/scale.h"
#include "tests/support/unit.h"

#include <string.h>

#include "boards/drivers/pl330.h"
#include "tests/unit/boards/pl330_model.h"
#include "tests/unit/port/moves.h"

enum { ROWS = 40, WIDTH = 24 };

static const char *const polled = "pl330:run=0,piece=0";
static const char *const interrupt = "pl330:interrupt=1,run=0,piece=0";

static int setup(void **state)
{
    (void)state;
    pl330_model_reset();
    (void)mli_mov_add_engine(&pl330_engine); /* refused if an earlier test has added the engine */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (pl330_model_complaint())
        print_error("model: %s\n", pl330_model_complaint());
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
                   mli_mov_set_platform(NULL) == MLI_STATUS_OK && !pl330_model_complaint()
               ? 0
               : -1;
}

/* Chooses the engine and its number of channels; the model interrupts if `spec` says so. */
static void choose(const char *spec, int channels)
{
    pl330_model.interrupts = strstr(spec, "interrupt=1");
    moves_engine(spec, channels);
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

/* Waits for the end. Lets the model run meanwhile, which raises its interrupts only then. */
static mli_status wait_for(mli_mov_handle_t *h)
{
    while (!mli_mov_isdone(h))
        pl330_model_run(64);
    return mli_mov_wait(h);
}

/* Runs the move again, which must succeed on the same channel, and releases the handle. */
static void finish_well(struct move *m, mli_mov_handle_t *h)
{
    pl330_model_poison(NULL, 0);
    start(h);
    assert_ok(wait_for(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

static mli_mov_status_t assert_place(const mli_mov_handle_t *h, mli_status code,
                                     uint32_t descriptor, uint64_t row)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.code, code);
    assert_int_equal(status.descriptor, descriptor);
    assert_int_equal(status.row, row);
    return status;
}

static void move_well(const char *spec, int channels)
{
    struct move m;
    mli_mov_handle_t h;

    choose(spec, channels);
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            move_init(&m, 5, 7, 3, 11);
        else if (i == 1)
            move_init_rows(&m, scale_percent() == 100 ? 700 : 300, 37);
        else
            move_init_padded(&m, 300, scale_percent() == 100 ? 301 : 17);
        move_prepare(&m, channels, &h);
        start(&h);
        assert_ok(wait_for(&h));
        assert_true(move_is_right(&m));
        finish_well(&m, &h);
    }
    moves_engine_away();
}

static void test_moves(void **state)
{
    (void)state;
    pl330_model.pace = 1000;
    for (int channels = 1; channels <= 8; channels += 7) {
        move_well(polled, channels);
        assert_int_equal(pl330_model.handled, 0);
    }
}

static void test_moves_by_interrupt(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 8; channels += 7)
        move_well(interrupt, channels);
    assert_true(pl330_model.handled > 0);
}

/* A program of 263 bytes has only one piece or a few, and causes one interrupt. */
static void test_short_programs(void **state)
{
    uint32_t programs;

    (void)state;
    move_well(interrupt, 1);
    programs = pl330_model.programs;
    assert_true(pl330_model.handled <= programs);
    move_well("pl330:interrupt=1,run=0,piece=0,program=263", 1);
    assert_true(pl330_model.programs - programs > 2 * programs);
    assert_status(mli_mov_set_engine("pl330:program=262"), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_engine("pl330:program=2049"), MLI_STATUS_ARGUMENT_ERROR);
}

/* By default the processor transposes bytes, and the controller reads nothing. */
static void test_pieces_of_the_processor(void **state)
{
    mli_mov_channel_stats stats;
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    for (int i = 0; i < 2; i++) {
        choose(i ? "pl330:interrupt=1" : "pl330", 1);
        move_init(&m, 1, 64, 64, 1);
        move_prepare(&m, 1, &h);
        start(&h);
        assert_ok(wait_for(&h));
        assert_true(move_is_right(&m));
        assert_int_equal(pl330_model.loaded, 0);
        assert_ok(mli_mov_get_channel_stats(0, &stats));
        assert_int_equal(stats.cpu_bytes, 64 * 64);
        finish_well(&m, &h);
        moves_engine_away();
        move_well(i ? "pl330:interrupt=1" : "pl330", 2);
        pl330_model.loaded = 0;
    }
}

/* A transpose of 4096 bytes by the controller takes a few programs, not one for each row. */
static void test_transpose_by_the_controller(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(interrupt, 1);
    move_init(&m, 1, 64, 64, 1);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_ok(wait_for(&h));
    assert_true(move_is_right(&m));
    assert_in_range(pl330_model.programs, 1, 2);
    assert_int_equal(pl330_model.handled, pl330_model.programs);
    finish_well(&m, &h);
}

/* A piece loops over up to 256 rows of the longest dimension: 2 x 300 bytes take four pieces. */
static void test_longest_loop(void **state)
{
    mli_mov_channel_stats stats;
    mli_mov_status_t status;
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(polled, 1);
    move_init(&m, 1, 2, 300, 1);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_ok(wait_for(&h));
    assert_true(move_is_right(&m));
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.queue_high_water, 4);
    pl330_model_poison(m.out + 2 * 41 + 1, 1);
    start(&h);
    assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
    assert_ok(mli_mov_get_status(&h, &status));
    assert_int_equal(status.row, 2 * 41 + 1);
    finish_well(&m, &h);
}

/* Poisons each row of the source or the destination once, on another channel each time. */
static void check_errors(const char *spec, bool destination)
{
    struct move m;
    mli_mov_handle_t h;

    choose(spec, 8);
    for (uint32_t row = 0; row < ROWS; row++) {
        const int channel = (int)row % 8;
        struct pl330_fault fault;
        mli_mov_status_t status;

        move_init_rows(&m, ROWS, WIDTH);
        assert_ok(mli_mov_acquire_handle_at(channel, 1, &h));
        assert_ok(mli_mov_prepare(&h, &m.src, &m.cfg, &m.dst));
        pl330_model_poison(destination ? m.out + row * WIDTH + 7 : m.in + row * 2 * WIDTH + 5, 1);
        start(&h);
        assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
        status = assert_place(&h, MLI_STATUS_DMA_ERROR, 0, row);
        assert_int_equal(status.channel, channel);
        assert_int_equal(status.bytes, row * WIDTH);
        assert_ptr_equal(status.address, m.out + row * WIDTH);
        assert_memory_equal(m.out + (row ? row - 1 : 0) * WIDTH,
                            row ? m.in + (row - 1) * 2 * WIDTH : m.out, WIDTH);
        fault = pl330_last_fault((uint32_t)channel);
        assert_int_equal(fault.type, destination ? PL330_FAULT_WRITE : PL330_FAULT_READ);
        finish_well(&m, &h);
    }
    moves_engine_away();
}

static void test_bus_errors(void **state)
{
    (void)state;
    check_errors(polled, false);
    check_errors(polled, true);
    check_errors(interrupt, false);
    check_errors(interrupt, true);
    check_errors("pl330:interrupt=1,run=0,piece=0,program=263", true);
}

/* Reports errors in the zeros around a plane, in programs of several pieces. */
static void test_errors_in_fills(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;
    const uint32_t step = scale_percent() == 100 ? 13 : 91;

    (void)state;
    choose(polled, 1);
    for (uint32_t at = 0; at < (ROWS + 2) * (WIDTH + 2); at += step) {
        move_init_padded(&m, ROWS, WIDTH);
        move_prepare(&m, 1, &h);
        pl330_model_poison(m.out + at, 1);
        start(&h);
        assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
        assert_ok(mli_mov_get_status(&h, &status));
        assert_true((const uint8_t *)status.address <= m.out + at);
        assert_true(status.bytes <= move_written(&m));
        finish_well(&m, &h);
    }
}

/* If an error does not occur again, the transfer still fails, at the first row of the program. */
static void test_error_that_goes_away(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(polled, 1);
    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    pl330_model.errors = 1;
    pl330_model_poison(m.in + 9 * 2 * WIDTH, 1);
    start(&h);
    assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
    assert_int_equal(assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 0).bytes, 0);
    finish_well(&m, &h);
}

/* A faulty instruction ends the transfer: the program is not executed again. */
static void test_traps(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(interrupt, 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        move_init_rows(&m, ROWS, WIDTH);
        move_prepare(&m, 1, &h);
        pl330_inject(0, PL330_INJECT_TRAP, row);
        pl330_model.programs = 0;
        start(&h);
        assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
        assert_int_equal(pl330_model.programs, 1);
        assert_int_equal(assert_place(&h, MLI_STATUS_DMA_ERROR, 0, row).bytes, row * WIDTH);
        assert_int_equal(pl330_last_fault(0).type, PL330_FAULT_UNDEFINED);
        finish_well(&m, &h);
    }
}

static void check_cancel(const char *spec)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;

    choose(spec, 1);
    for (uint32_t instructions = 0; instructions < 300; instructions += 11) {
        move_init_rows(&m, ROWS, WIDTH);
        move_prepare(&m, 1, &h);
        pl330_model.pace = 0;
        start(&h);
        pl330_model_run(instructions);
        assert_ok(mli_mov_cancel(&h));
        assert_status(wait_for(&h), MLI_STATUS_CANCELLED);
        assert_ok(mli_mov_get_status(&h, &status));
        assert_int_equal(status.code, MLI_STATUS_CANCELLED);
        assert_true(status.bytes <= move_written(&m));
        pl330_model.pace = 16;
        finish_well(&m, &h);
    }
    moves_engine_away();
}

static void test_cancel(void **state)
{
    (void)state;
    check_cancel(polled);
    check_cancel(interrupt);
}

/*
 * A cancel ends a thread that waits for an event, in the row where it waits; another thread is not
 * stopped.
 */
static void check_stuck(const char *spec)
{
    struct move m, other;
    mli_mov_handle_t h, other_h;

    choose(spec, 2);
    for (uint32_t row = 0; row < ROWS; row += 3) {
        move_init_rows(&m, ROWS, WIDTH);
        move_init_rows(&other, ROWS, WIDTH);
        move_prepare(&m, 1, &h);
        move_prepare(&other, 1, &other_h);
        pl330_inject(0, PL330_INJECT_WAIT, row);
        start(&h);
        start(&other_h);
        assert_ok(wait_for(&other_h));
        pl330_model_run(10000);
        assert_false(mli_mov_isdone(&h));
        assert_ok(mli_mov_cancel(&h));
        assert_status(wait_for(&h), MLI_STATUS_CANCELLED);
        assert_int_equal(assert_place(&h, MLI_STATUS_CANCELLED, 0, row).bytes, row * WIDTH);
        finish_well(&m, &h);
        finish_well(&other, &other_h);
    }
    moves_engine_away();
}

static void test_stuck(void **state)
{
    (void)state;
    check_stuck(polled);
    check_stuck(interrupt);
}

/* A cancel does not wait for a thread that ignores DMAKILL. A later poll kills the thread again. */
static void check_immune(const char *spec)
{
    struct move m;
    mli_mov_handle_t h;

    choose(spec, 1);
    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    pl330_inject(0, PL330_INJECT_WAIT, 2);
    start(&h);
    pl330_model_run(10000);
    pl330_model.immune = true;
    assert_ok(mli_mov_cancel(&h));
    assert_false(mli_mov_isdone(&h));
    pl330_model.immune = false;
    mli_mov_poll();
    assert_true(mli_mov_isdone(&h));
    assert_status(wait_for(&h), MLI_STATUS_CANCELLED);
    assert_place(&h, MLI_STATUS_CANCELLED, 0, 2);
    finish_well(&m, &h);
    moves_engine_away();
}

static void test_immune(void **state)
{
    (void)state;
    check_immune(polled);
    check_immune(interrupt);
}

/* A thread that waits continues after its event. */
static void test_release(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(interrupt, 1);
    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    pl330_inject(0, PL330_INJECT_WAIT, 7);
    start(&h);
    pl330_model_run(10000);
    assert_false(mli_mov_isdone(&h));
    pl330_release(0);
    assert_ok(wait_for(&h));
    assert_true(move_is_right(&m));
    finish_well(&m, &h);
}

/* Eight threads wait in different rows, and continue in another order than that of their starts. */
static void test_overlapping_transfers(void **state)
{
    struct move m[PL330_CHANNELS_MAX];
    mli_mov_handle_t h[PL330_CHANNELS_MAX];

    (void)state;
    choose(interrupt, PL330_CHANNELS_MAX);
    for (uint32_t i = 0; i < PL330_CHANNELS_MAX; i++) {
        move_init_rows(&m[i], ROWS, WIDTH + i);
        move_prepare(&m[i], 1, &h[i]);
        pl330_inject(i, PL330_INJECT_WAIT, i);
        start(&h[i]);
    }
    pl330_model_run(1000);
    for (uint32_t n = 0; n < PL330_CHANNELS_MAX; n++) {
        const uint32_t i = (5 * n + 3) % PL330_CHANNELS_MAX;

        assert_false(mli_mov_isdone(&h[i]));
        pl330_release(i);
        assert_ok(wait_for(&h[i]));
        assert_true(move_is_right(&m[i]));
    }
    for (uint32_t i = 0; i < PL330_CHANNELS_MAX; i++)
        finish_well(&m[i], &h[i]);
}

static void check_refused(const char *spec)
{
    struct move m;
    mli_mov_handle_t h;

    choose(spec, 1);
    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    pl330_model.refuses = true;
    start(&h);
    assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
    (void)assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 0);
    assert_int_equal(pl330_last_fault(0).type, 1 << 4);
    pl330_model.refuses = false;
    finish_well(&m, &h);
    moves_engine_away();
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(polled);
    check_refused(interrupt);
}

/* Memory that 32-bit addresses do not reach makes the transfer fail; nothing is written elsewhere.
 */
static void test_beyond_the_bus(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    choose(polled, 1);
    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    pl330_model.far = true;
    start(&h);
    assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
    (void)assert_place(&h, MLI_STATUS_DMA_ERROR, 0, 0);
    assert_int_equal(move_written(&m), 0);
    pl330_model.far = false;
    finish_well(&m, &h);
}

static void test_non_secure(void **state)
{
    (void)state;
    pl330_model.nonsecure = true;
    move_well(interrupt, 2);
}

static void test_no_controller(void **state)
{
    static const struct pl330_platform none = {.base = 0};

    (void)state;
    pl330_set_platform(&none);
    assert_status(mli_mov_set_engine("pl330"), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_engine("pl330:interrupt=1"), MLI_STATUS_ARGUMENT_ERROR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_moves),
        TEST(test_moves_by_interrupt),
        TEST(test_short_programs),
        TEST(test_pieces_of_the_processor),
        TEST(test_transpose_by_the_controller),
        TEST(test_longest_loop),
        TEST(test_bus_errors),
        TEST(test_errors_in_fills),
        TEST(test_error_that_goes_away),
        TEST(test_traps),
        TEST(test_cancel),
        TEST(test_stuck),
        TEST(test_immune),
        TEST(test_release),
        TEST(test_overlapping_transfers),
        TEST(test_refused),
        TEST(test_beyond_the_bus),
        TEST(test_non_secure),
        TEST(test_no_controller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
