/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the PL080 on a model in which time passes: ends, errors and cancels in every row.
 */
#include "tests/support/unit.h"

#include <string.h>

#include "tests/unit/port/moves.h"
#include "tests/unit/port/pl080_model.h"

enum { ROWS = 100, WIDTH = 24, STEP = 32, STUCK = 100000 };

static _Alignas(4) uint8_t in[ROWS * STEP], out[ROWS * STEP];

static const struct mli_plan plan = {
    .bytes = ROWS * WIDTH,
    .box = {.src = in,
            .dst = out,
            .run = WIDTH,
            .loops = 1,
            .loop = {{.count = ROWS, .src_step = STEP, .dst_step = STEP}}}};

static struct mli_work_end ended;
static uint32_t ends;

static int setup(void **state)
{
    (void)state;
    pl080_model_reset();
    (void)mli_mov_add_engine(&pl080_engine); /* refused if it was added before */
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7 + 1);
    memset(out, 0, sizeof(out));
    ends = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    if (pl080_model_complaint())
        print_error("model: %s\n", pl080_model_complaint());
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
                   mli_mov_set_platform(NULL) == MLI_STATUS_OK && !pl080_model_complaint()
               ? 0
               : -1;
}

static void on_end(struct mli_work *work, const struct mli_work_end *end)
{
    (void)work;
    ended = *end;
    ends++;
}

static bool is_moved(uint32_t row)
{
    return memcmp(out + row * STEP, in + row * STEP, WIDTH) == 0;
}

static void assert_moved(uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++)
        assert_true(is_moved(row));
}

/* Polls until the end, and cancels after `polls` polls. */
static void execute(uint32_t pace, uint32_t polls)
{
    struct mli_work work = {.plan = &plan, .done = on_end, .number = 1};

    pl080_model.pace = pace;
    memset(out, 0, sizeof(out));
    ends = 0;
    pl080_engine.submit(0, &work);
    for (uint32_t i = 0; ends == 0; i++) {
        assert_true(i < STUCK);
        if (i == polls)
            work.cancelled = work.number;
        (void)pl080_engine.poll(0, 1 + i % 3);
    }
    assert_int_equal(pl080_engine.poll(0, 10), 0);
    assert_int_equal(ends, 1);
}

static void test_cancel_everywhere(void **state)
{
    uint32_t cancelled = 0;

    (void)state;
    moves_engine("pl080:interrupt=0,run=0,piece=0", 1);
    for (uint32_t polls = 0; polls < 2000; polls += 7) {
        uint32_t rows;

        execute(1, polls);
        if (ended.status == MLI_STATUS_OK) {
            assert_moved(ROWS);
            continue;
        }
        cancelled++;
        rows = (uint32_t)ended.row;
        assert_int_equal(ended.status, MLI_STATUS_CANCELLED);
        assert_int_equal(ended.bytes, rows * WIDTH);
        assert_moved(rows);
        assert_false(is_moved(rows + 1 < ROWS ? rows + 1 : rows));
    }
    assert_true(cancelled > 100);
    execute(16, STUCK);
    assert_int_equal(ended.status, MLI_STATUS_OK);
    moves_engine_away();
}

static void test_error_in_each_row(void **state)
{
    (void)state;
    moves_engine("pl080:interrupt=0,run=0,piece=0", 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        pl080_model.fail_at = out + row * STEP + WIDTH / 2;
        execute(1 + row % 5, STUCK);
        assert_int_equal(ended.status, MLI_STATUS_DMA_ERROR);
        assert_int_equal(ended.row, row);
        assert_int_equal(ended.bytes, row * WIDTH);
        assert_moved(row);
        pl080_model.fail_at = NULL;
        execute(16, STUCK);
        assert_int_equal(ended.status, MLI_STATUS_OK);
        assert_moved(ROWS);
    }
    moves_engine_away();
}

/* The transfer of a program completes by interrupts alone, one for each list, or fails by one. */
static void test_interrupts(void **state)
{
    struct mli_work work = {.plan = &plan, .done = on_end, .number = 1};

    (void)state;
    moves_engine("pl080:interrupt=1,run=0,piece=0", 1);
    pl080_model.pace = 0;
    pl080_engine.submit(0, &work);
    for (uint32_t i = 0; ends == 0 && i < STUCK; i++)
        pl080_model_run(1);
    assert_int_equal(ends, 0); /* the library polls work items of its own only */
    for (uint32_t i = 0; ends == 0 && i < STUCK; i++) {
        (void)pl080_engine.poll(0, 1000);
        pl080_model_run(1);
    }
    assert_int_equal(ended.status, MLI_STATUS_OK);
    assert_moved(ROWS);
    ends = 0;
    pl080_model.fail_at = out + 50 * STEP;
    pl080_engine.submit(0, &work);
    for (uint32_t i = 0; ends == 0 && i < STUCK; i++) {
        const uint32_t before = pl080_model.handled;

        pl080_model_run(1);
        if (pl080_model.handled != before) /* the handler has cleared the error */
            (void)pl080_engine.poll(0, 1000);
    }
    assert_int_equal(ended.status, MLI_STATUS_DMA_ERROR);
    assert_int_equal(ended.row, 50);
    assert_moved(50);
    moves_engine_away();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cancel_everywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_in_each_row, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupts, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
