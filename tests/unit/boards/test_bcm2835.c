/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The port for the DMA controller of the BCM2835 with a model of the controller: full and lite
 * channels, bus errors with their rows, pauses, and channels that stall or hang.
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/rng.h"
#include "tests/unit/boards/bcm2835_model.h"
#include "tests/unit/boards/bus_windows.h"
#include "tests/unit/port/moves.h"

enum { ROWS = 40, WIDTH = 24, FIRST_LITE = BCM2835_MODEL_FULL };

static const char *const polled = "bcm2835:interrupt=0,run=0,piece=0";
static const char *const interrupt = "bcm2835:interrupt=1,run=0,piece=0";

static int setup(void **state)
{
    (void)state;
    bcm2835_model_reset();
    (void)mli_mov_add_engine(&bcm2835_engine); /* refused if an earlier test has added the engine */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (bcm2835_model_complaint())
        print_error("model: %s\n", bcm2835_model_complaint());
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
                   mli_mov_set_platform(NULL) == MLI_STATUS_OK && !bcm2835_model_complaint()
               ? 0
               : -1;
}

/* Chooses the engine and its number of channels; the model interrupts if `spec` says so. */
static void choose(const char *spec, int channels)
{
    bcm2835_model.interrupts = strstr(spec, "interrupt=1");
    moves_engine(spec, channels);
}

/* Chooses the engine with a lite channel only. */
static void choose_lite(const char *spec)
{
    moves_engine_away();
    choose(spec, 1);
    assert_ok(mli_mov_set_num_dma_ch(FIRST_LITE, 1));
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

/* Waits for the end. Lets the model run meanwhile, which raises its interrupts only then. */
static mli_status wait_for(mli_mov_handle_t *h)
{
    while (!mli_mov_isdone(h))
        bcm2835_model_run(64);
    return mli_mov_wait(h);
}

/* Runs the move again, which must succeed on the same channel, and releases the handle. */
static void finish_well(struct move *m, mli_mov_handle_t *h)
{
    bcm2835_model_poison(NULL, 0);
    start(h);
    assert_ok(wait_for(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

static void run(struct move *m, int count)
{
    mli_mov_handle_t h;

    move_prepare(m, count, &h);
    finish_well(m, &h);
}

static mli_mov_status_t assert_place(const mli_mov_handle_t *h, mli_status code, uint64_t row)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.code, code);
    assert_int_equal(status.descriptor, 0);
    assert_int_equal(status.row, row);
    return status;
}

static void test_moves(void **state)
{
    struct rng rng = {.state = 2835};
    char spec[96];

    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        const int count = (int)rng_between(&rng, 1, BCM2835_MODEL_CHANNELS);
        struct move m;

        bcm2835_model.pace = rng_between(&rng, 1, 100);
        bcm2835_model.step_bytes = rng_between(&rng, 1, 32);
        snprintf(spec, sizeof(spec), "bcm2835:interrupt=%u,blocks=%u,run=%u,piece=%u,lite=%u",
                 (unsigned)rng_below(&rng, 2), (unsigned)rng_between(&rng, 1, BCM2835_BLOCKS_MAX),
                 (unsigned)rng_below(&rng, 20), (unsigned)rng_below(&rng, 80),
                 (unsigned)rng_below(&rng, 2));
        choose(spec, count);
        if (i % 3 == 0)
            move_init(&m, rng_between(&rng, 1, 9), rng_between(&rng, 1, 9), rng_between(&rng, 1, 9),
                      rng_between(&rng, 1, 9));
        else if (i % 3 == 1)
            move_init_rows(&m, rng_between(&rng, 1, 60), rng_between(&rng, 1, 500));
        else
            move_init_padded(&m, rng_between(&rng, 1, 40), rng_between(&rng, 1, 300));
        run(&m, count);
        moves_engine_away();
        bus_windows_reset(); /* with sanitizers, the next move is far from this memory */
    }
    assert_true(bcm2835_model.handled > 0);
}

/*
 * Rows at equal distances take one control block on a full channel, and one for each row on a lite
 * channel.
 */
static void test_rectangles(void **state)
{
    struct move m;

    (void)state;
    choose(polled, 1);
    move_init_rows(&m, 1000, 30);
    run(&m, 1);
    assert_int_equal(bcm2835_model.blocks, 1);
    assert_int_equal(bcm2835_model.rectangles, 1);
    choose_lite(polled);
    move_init_rows(&m, 1000, 30);
    run(&m, 1);
    assert_int_equal(bcm2835_model.blocks, 1 + 1000);
    assert_int_equal(bcm2835_model.rectangles, 1);
    assert_int_equal(bcm2835_model.chains,
                     1 + (1000 + BCM2835_BLOCKS_MAX - 1) / BCM2835_BLOCKS_MAX);
}

/* A control block moves at most 65535 bytes on a lite channel, and any number on a full channel. */
static void test_long_runs(void **state)
{
    struct move m;

    (void)state;
    bcm2835_model.pace = 1000;
    choose(polled, 1);
    move_init_rows(&m, 1, 200000);
    run(&m, 1);
    assert_int_equal(bcm2835_model.blocks, 1);
    choose_lite(polled);
    move_init_rows(&m, 1, 200000);
    run(&m, 1);
    assert_int_equal(bcm2835_model.blocks, 1 + 4);
}

/* By default the processor makes transposes of bytes. */
static void test_pieces_of_the_processor(void **state)
{
    static const char *const specs[] = {"bcm2835:interrupt=0", "bcm2835:interrupt=1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        mli_mov_channel_stats stats;
        struct move m;

        choose(specs[i], 1);
        move_init(&m, 1, 1, 64, 64);
        run(&m, 1);
        assert_ok(mli_mov_get_channel_stats(0, &stats));
        assert_int_equal(stats.cpu_bytes, 64 * 64);
        moves_engine_away();
    }
    assert_int_equal(bcm2835_model.chains, 0);
}

/* The processor moves memory that the bus cannot address. */
static void test_memory_beyond_the_bus(void **state)
{
    mli_mov_channel_stats stats;
    struct move m;

    (void)state;
    choose(interrupt, 1);
    bcm2835_model.far = true;
    move_init_padded(&m, ROWS, WIDTH);
    run(&m, 1);
    assert_int_equal(bcm2835_model.chains, 0);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.cpu_bytes, stats.bytes);
}

/* A read error ends the transfer in the row that failed; all rows before that row are written. */
static void fail_in_row(uint32_t row)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;

    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    bcm2835_model_poison(m.in + row * 2 * WIDTH + WIDTH - 1, 1);
    start(&h);
    assert_status(wait_for(&h), MLI_STATUS_DMA_ERROR);
    status = assert_place(&h, MLI_STATUS_DMA_ERROR, row);
    assert_int_equal(status.bytes, row * WIDTH);
    assert_true(move_written(&m) >= row * WIDTH);
    finish_well(&m, &h);
}

static void test_bus_errors(void **state)
{
    static const char *const specs[] = {"bcm2835:interrupt=0,run=0,piece=0",
                                        "bcm2835:interrupt=1,run=0,piece=0",
                                        "bcm2835:interrupt=0,run=0,piece=0,lite=1,blocks=3"};

    (void)state;
    bcm2835_model.pace = 1;
    bcm2835_model.step_bytes = 5;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        choose(specs[i], 1);
        for (uint32_t row = 0; row < ROWS; row++)
            fail_in_row(row);
        moves_engine_away();
    }
}

/* Cancels after some steps: the channel is paused, and the reported rows are written. */
static void cancel_after(uint32_t steps)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;
    mli_status code;

    move_init_rows(&m, ROWS, WIDTH);
    move_prepare(&m, 1, &h);
    start(&h);
    if (steps % 2)
        (void)mli_mov_isdone(&h); /* polls, so that the engine fills the next chain */
    bcm2835_model_run(steps);
    assert_ok(mli_mov_cancel(&h));
    code = wait_for(&h);
    if (code != MLI_STATUS_OK) {
        assert_status(code, MLI_STATUS_CANCELLED);
        assert_ok(mli_mov_get_status(&h, &status));
        assert_int_equal(status.bytes, status.row * WIDTH);
        assert_true(move_written(&m) >= status.bytes);
        assert_true(status.row <= steps + 2); /* the channel has not moved the remaining rows */
    }
    finish_well(&m, &h);
}

static void test_cancel(void **state)
{
    static const char *const specs[] = {"bcm2835:interrupt=0,run=0,piece=0",
                                        "bcm2835:interrupt=1,run=0,piece=0",
                                        "bcm2835:interrupt=0,run=0,piece=0,lite=1,blocks=3",
                                        "bcm2835:interrupt=1,run=0,piece=0,lite=1,blocks=1"};

    (void)state;
    bcm2835_model.step_bytes = 5;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        choose(specs[i], 1);
        bcm2835_model.pace = 1;
        for (uint32_t steps = 0; steps < 400; steps += 7)
            cancel_after(steps);
        moves_engine_away();
    }
}

/* A channel that makes no progress ends by a cancel. */
static void test_stalled_channel(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    for (int i = 0; i < 4; i++) {
        choose(i % 2 ? interrupt : polled, 1);
        move_init_rows(&m, ROWS, WIDTH);
        move_prepare(&m, 1, &h);
        bcm2835_model.stalled = i < 2;
        bcm2835_model.hung = i >= 2;
        start(&h);
        for (int k = 0; k < 100; k++)
            assert_false(mli_mov_isdone(&h));
        assert_ok(mli_mov_cancel(&h));
        assert_status(wait_for(&h), MLI_STATUS_CANCELLED);
        assert_int_equal(assert_place(&h, MLI_STATUS_CANCELLED, 0).bytes, 0);
        bcm2835_model.stalled = bcm2835_model.hung = false;
        finish_well(&m, &h);
        moves_engine_away();
    }
}

/* A channel that another program uses does not join the pool. */
static void test_channel_in_use(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine(polled));
    bcm2835_model_start_elsewhere(0);
    assert_status(mli_mov_set_num_dma_ch(0, 1), MLI_STATUS_NOT_ENGH_MEM);
    assert_non_null(strstr(mli_last_error(), "another program uses the channel"));
}

enum { CHAIN = 100 };

static mli_mov_handle_t chain_handle;
static uint32_t chained;

static void start_again(int32_t cookie)
{
    (void)cookie;
    if (++chained < CHAIN)
        start(&chain_handle);
}

static void test_callbacks_start_transfers(void **state)
{
    struct move m;

    (void)state;
    choose(interrupt, 1);
    chained = 0;
    move_init_padded(&m, 5, 16);
    move_prepare(&m, 1, &chain_handle);
    assert_ok(mli_mov_registercallback(&chain_handle, start_again, 0));
    start(&chain_handle);
    while (chained < CHAIN || !mli_mov_isdone(&chain_handle))
        bcm2835_model_run(64);
    assert_int_equal(chained, CHAIN);
    finish_well(&m, &chain_handle);
}

static void test_options(void **state)
{
    static const char *const refused[] = {"bcm2835:blocks=0", "bcm2835:blocks=33", "bcm2835:lite=2",
                                          "bcm2835:interrupt=2", "bcm2835:rows=1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        assert_status(mli_mov_set_engine(refused[i]), MLI_STATUS_ARGUMENT_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rectangles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces_of_the_processor, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_beyond_the_bus, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bus_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stalled_channel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_channel_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callbacks_start_transfers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
