/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the engine of the SiFive PDMA with a model of the controller. Each test runs with polled
 * channels and with interrupts.
 */
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "boards/drivers/pdma.h"
#include "tests/support/rng.h"
#include "tests/unit/boards/pdma_model.h"
#include "tests/unit/port/moves.h"

static const char *spec; /* the specification of the engine: polled channels or interrupts */

static bool by_interrupt(void)
{
    return strcmp(spec, "pdma:interrupt=1,piece_min=0") == 0;
}

static int setup(void **state)
{
    (void)state;
    pdma_model_init();
    moves_engine(spec, PDMA_CHANNELS);
    return 0;
}

/* Every test ends without a wrong access to the controller's registers. */
static int teardown(void **state)
{
    (void)state;
    pdma_model_set_bad(NULL, 0);
    moves_engine_away();
    assert_int_equal(pdma_model_violations(), 0);
    return 0;
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

static void finish(struct move *m, mli_mov_handle_t *h)
{
    assert_ok(mli_mov_wait(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

static void test_each_row_is_a_block(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    finish(&m, &h);
    assert_int_equal(pdma_model_blocks(), 20);
    assert_int_equal(pdma_model_interrupts(), by_interrupt() ? 20 : 0);
}

static void test_all_channels(void **state)
{
    (void)state;
    for (int channels = 1; channels <= PDMA_CHANNELS; channels++) {
        struct move m;
        mli_mov_handle_t h;

        move_init(&m, 3, 4, 5, 6);
        move_prepare(&m, channels, &h);
        start(&h);
        finish(&m, &h);
    }
}

/* Zeros longer than the page of zeros, beside rows and above them. */
static void test_zeros(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    for (uint32_t width = 1; width <= 20001; width += 4000) {
        move_init_padded(&m, 3, width);
        move_prepare(&m, 2, &h);
        start(&h);
        finish(&m, &h);
    }
}

/* Calls the functions of the driver with a single row. */
static struct mli_plan plan;
static struct mli_work work;
static struct mli_work_end end;
static uint32_t dones;

static void done(struct mli_work *ended, const struct mli_work_end *how)
{
    assert_ptr_equal(ended, &work);
    end = *how;
    dones++;
}

static void submit_row(uint32_t channel, const uint8_t *src, uint8_t *dst, size_t run)
{
    plan = (struct mli_plan){.bytes = run};
    plan.box = (struct mli_copy_box){.src = src, .dst = dst, .run = run};
    work = (struct mli_work){.plan = &plan, .done = done};
    dones = 0;
    pdma_engine.submit(channel, &work);
    while (dones == 0)
        assert_int_equal(pdma_engine.poll(channel, 1), 1);
}

/* The model counts transactions that are not aligned; teardown() checks the count. */
static void test_alignment(void **state)
{
    static uint8_t in[1024], out[1024], want[1024];
    struct rng rng = {11};

    (void)state;
    rng_fill(&rng, in, sizeof(in));
    for (int i = 0; i < 3000; i++) {
        const size_t from = rng_below(&rng, 130), run = rng_between(&rng, 1, 700);
        const size_t to = rng_chance(&rng, 50) ? rng_below(&rng, 130) : from;
        const uint32_t before = pdma_model_blocks();

        memset(out, 0, sizeof(out));
        memset(want, 0, sizeof(want));
        memcpy(want + to, in + from, run);
        submit_row(1, in + from, out + to, run);
        assert_int_equal(dones, 1);
        assert_int_equal(end.status, MLI_STATUS_OK);
        assert_int_equal(end.bytes, run);
        assert_memory_equal(out, want, sizeof(out));
        assert_in_range(pdma_model_blocks() - before, 1, 3);
    }
}

static void test_block_option(void **state)
{
    static _Alignas(64) uint8_t in[1000], out[1000];
    struct mli_channel_caps caps = {0};

    (void)state;
    assert_true(pdma_engine.option("block", 5, 64));
    submit_row(0, in, out, sizeof(in));
    assert_int_equal(end.status, MLI_STATUS_OK);
    assert_int_equal(pdma_model_blocks(), 16); /* 15 blocks of 64 bytes, and the rest */
    assert_false(pdma_engine.option("block", 5, 63));
    assert_false(pdma_engine.option("interrupt", 9, 2));
    assert_false(pdma_engine.option("block", 4, 64));
    pdma_engine.caps(0, &caps);
    assert_int_equal(caps.flags, by_interrupt() ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED);
    assert_int_equal(pdma_engine.probe(), PDMA_CHANNELS);
}

/* The processor moves rows that are too short to be worth a start; no interrupt is needed. */
static void test_short_rows_are_for_the_processor(void **state)
{
    char text[64];
    mli_mov_channel_stats stats;
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine_away();
    (void)snprintf(text, sizeof(text), "pdma:interrupt=%d,piece_min=512", by_interrupt());
    moves_engine(text, PDMA_CHANNELS);
    move_init(&m, 4, 4, 64, 64); /* a transpose: each row is one byte */
    move_prepare(&m, 1, &h);
    start(&h);
    finish(&m, &h);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.cpu_bytes, 65536);
    assert_in_range(stats.cpu_pieces, 16, 100);
    assert_int_equal(pdma_model_blocks(), 0);
    assert_int_equal(pdma_model_interrupts(), 0);

    move_init_padded(&m, 3, 1000); /* the processor writes the zeros */
    move_prepare(&m, 1, &h);
    start(&h);
    finish(&m, &h);
    assert_true(pdma_model_blocks() >= 3);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_in_range(stats.cpu_bytes, 65536 + 1, 65536 + 100);
}

/* A poll completes at most `budget` blocks, and touches no idle channel. */
static void test_budget(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    if (by_interrupt()) /* interrupts poll */
        return;
    assert_int_equal(pdma_engine.poll(0, 8), 0);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_int_equal(pdma_engine.poll(0, 0), 0);
    assert_int_equal(pdma_engine.poll(0, 7), 7);
    assert_int_equal(pdma_engine.poll(0, 100), 13);
    assert_int_equal(pdma_engine.poll(0, 100), 0);
    finish(&m, &h);
}

static void expect_end(mli_mov_handle_t *h, mli_status code, uint32_t channel, uint64_t row,
                       size_t bytes)
{
    mli_mov_status_t status;

    assert_status(mli_mov_wait(h), code);
    assert_ok(mli_mov_get_status(h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.channel, channel);
    assert_int_equal(status.descriptor, 0);
    assert_int_equal(status.row, row);
    assert_int_equal(status.bytes, bytes);
}

/* After an error, the channel moves all rows. */
static void test_bus_error(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < 9; row++) {
        struct move m;
        mli_mov_handle_t h;

        move_init_rows(&m, 9, 5);
        /* The rows of the destination touch, so they are one run, which has no boundary for a row.
         */
        m.cfg.dst_mem_stride[0] = 5;
        m.cfg.dst_mem_stride[1] = 1;
        pdma_model_set_bad(m.out + (size_t)row * 5, 1);
        move_prepare(&m, 1, &h);
        start(&h);
        expect_end(&h, MLI_STATUS_DMA_ERROR, 0, row, (size_t)row * 5);
        pdma_model_set_bad(NULL, 0);
        start(&h);
        finish(&m, &h);
    }
}

/* A block without memory is not started: the controller never sees its addresses. */
static void test_no_memory(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < 9; row++) {
        struct move m;
        mli_mov_handle_t h;
        const uint32_t before = pdma_model_blocks();

        move_init_rows(&m, 9, 5);
        pdma_model_set_hole(row % 2 ? m.in + (size_t)row * 10 : m.out + (size_t)row * 5, 1);
        move_prepare(&m, 1, &h);
        start(&h);
        expect_end(&h, MLI_STATUS_DMA_ERROR, 0, row, (size_t)row * 5);
        assert_int_equal(pdma_model_blocks() - before, row);
        pdma_model_set_hole(NULL, 0);
        start(&h);
        finish(&m, &h);
    }
}

/* A cancel takes effect when the block has ended: the controller cannot stop it. */
static void test_cancel_between_blocks(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    pdma_model_set_fast(false);
    move_init_rows(&m, 9, 5);
    move_prepare(&m, 1, &h);
    start(&h);
    for (int i = 0; i < 3; i++) {
        assert_true(pdma_model_step(0));
        assert_false(mli_mov_isdone(&h));
    }
    assert_ok(mli_mov_cancel(&h));
    assert_false(mli_mov_isdone(&h));
    assert_true(pdma_model_runs(0));
    assert_true(pdma_model_step(0));
    expect_end(&h, MLI_STATUS_CANCELLED, 0, 4, 20);
    assert_false(pdma_model_runs(0));
    pdma_model_set_fast(true);
    start(&h);
    finish(&m, &h);
}

/* A work item whose last block ends before the cancel takes effect ends without an error. */
static void test_cancel_in_last_block(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    pdma_model_set_fast(false);
    move_init_rows(&m, 1, 5);
    move_prepare(&m, 1, &h);
    start(&h);
    assert_ok(mli_mov_cancel(&h));
    assert_true(pdma_model_step(0));
    finish(&m, &h);
}

static void test_stuck_channel(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    pdma_model_stick(0, 1);
    move_init_rows(&m, 9, 5);
    move_prepare(&m, 1, &h);
    start(&h);
    for (int i = 0; i < 10; i++)
        assert_false(mli_mov_isdone(&h));
    assert_ok(mli_mov_cancel(&h));
    expect_end(&h, MLI_STATUS_CANCELLED, 0, 0, 0);
    start(&h);
    finish(&m, &h);
}

/* When a part of a transfer fails, the interrupt handler of its channel stops the later parts. */
static void test_error_on_one_of_several_channels(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    mli_mov_status_t status;

    (void)state;
    move_init_rows(&m, 64, 64);
    pdma_model_set_bad(m.out + 20 * 64, 1);
    move_prepare(&m, 4, &h);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_ok(mli_mov_get_status(&h, &status));
    assert_int_equal(status.channel, 1); /* rows 16 to 31 */
    assert_ptr_equal(status.address, m.out + 20 * 64);
    pdma_model_set_bad(NULL, 0);
    start(&h);
    finish(&m, &h);
}

static mli_mov_handle_t chained;
static uint32_t links;

static void on_done(int32_t cookie)
{
    (void)cookie;
    if (++links < 100)
        start(&chained);
}

/* A callback in the handler starts the next transfer. */
static void test_chain(void **state)
{
    struct move m;

    (void)state;
    links = 0;
    move_init_rows(&m, 4, 5);
    move_prepare(&m, 1, &chained);
    assert_ok(mli_mov_registercallback(&chained, on_done, 0));
    start(&chained);
    assert_ok(mli_mov_synchronise(&chained));
    assert_int_equal(links, 100);
    assert_int_equal(pdma_model_blocks(), 400);
    finish(&m, &chained);
}

/* An interrupt that comes without a work item, for example on a shared line, changes nothing. */
static void test_spurious_interrupt(void **state)
{
    (void)state;
    for (uint32_t channel = 0; channel < PDMA_CHANNELS; channel++)
        pdma_interrupt(channel);
    test_each_row_is_a_block(state);
}

static void test_statistics(void **state)
{
    mli_mov_channel_stats stats;
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    move_init_rows(&m, 9, 5);
    move_prepare(&m, 1, &h);
    start(&h);
    finish(&m, &h);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.completed, 1);
    assert_int_equal(stats.bytes, 45);
    assert_int_equal(stats.rows, 9);
    assert_int_equal(stats.queue_high_water, 1);
}

/*
 * Refuses interrupts if the platform cannot mask them, and the engine if there is no controller.
 */
static void test_platforms(void **state)
{
    static const struct pdma_platform none, polled = {.channels = 1};

    (void)state;
    pdma_set_platform(&polled);
    assert_false(pdma_engine.option("interrupt", 9, 1));
    assert_true(pdma_engine.option("interrupt", 9, 0));
    assert_int_equal(pdma_engine.probe(), 1);
    pdma_set_platform(&none);
    assert_int_equal(pdma_engine.probe(), 0);
    pdma_model_init();
    assert_true(pdma_engine.option("interrupt", 9, by_interrupt()));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_each_row_is_a_block),
        TEST(test_all_channels),
        TEST(test_zeros),
        TEST(test_alignment),
        TEST(test_block_option),
        TEST(test_short_rows_are_for_the_processor),
        TEST(test_budget),
        TEST(test_bus_error),
        TEST(test_no_memory),
        TEST(test_cancel_between_blocks),
        TEST(test_cancel_in_last_block),
        TEST(test_stuck_channel),
        TEST(test_error_on_one_of_several_channels),
        TEST(test_chain),
        TEST(test_spurious_interrupt),
        TEST(test_statistics),
        TEST(test_platforms),
    };
    int failed;

    pdma_model_init();
    assert_ok(mli_mov_add_engine(&pdma_engine));
    spec = "pdma:interrupt=0,piece_min=0";
    failed = cmocka_run_group_tests_name("polled", tests, NULL, NULL);
    spec = "pdma:interrupt=1,piece_min=0";
    return failed + cmocka_run_group_tests_name("interrupt", tests, NULL, NULL);
}
