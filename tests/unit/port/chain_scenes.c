/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/chain_scenes.h"

#include <string.h>

#include "tests/support/unit.h"
#include "tests/unit/port/moves.h"

enum {
    ROWS = CHAIN_SCENE_ROWS,
    WIDTH = CHAIN_SCENE_WIDTH,
    STEP = CHAIN_SCENE_STEP,
    STUCK = CHAIN_SCENE_POLLS
};

/* Groups of rows with a gap behind each, so that no engine makes one piece of all rows. */
enum { GROUPS = 10, GROUP_ROWS = ROWS / GROUPS, GROUP_STEP = GROUP_ROWS * STEP + 40 };

static _Alignas(4) uint8_t in[GROUPS * GROUP_STEP];
_Alignas(4) uint8_t chain_scene_out[GROUPS * GROUP_STEP];

const struct mli_plan chain_scene_plan = {
    .bytes = ROWS * WIDTH,
    .box = {.src = in,
            .dst = chain_scene_out,
            .run = WIDTH,
            .loops = 2,
            .loop = {{.count = GROUPS, .src_step = GROUP_STEP, .dst_step = GROUP_STEP},
                     {.count = GROUP_ROWS, .src_step = STEP, .dst_step = STEP}}}};

struct mli_work_end chain_scene_end;
uint32_t chain_scene_ends;

int chain_scene_setup(void **state)
{
    (void)state;
    chain_model.reset();
    (void)mli_mov_add_engine(chain_model.engine); /* refused if it was added before */
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7 + 1);
    memset(chain_scene_out, 0, sizeof(chain_scene_out));
    chain_scene_ends = 0;
    return 0;
}

int chain_scene_teardown(void **state)
{
    (void)state;
    if (chain_model.complaint())
        print_error("model: %s\n", chain_model.complaint());
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
                   mli_mov_set_platform(NULL) == MLI_STATUS_OK && !chain_model.complaint()
               ? 0
               : -1;
}

void chain_scene_on_end(struct mli_work *work, const struct mli_work_end *end)
{
    (void)work;
    chain_scene_end = *end;
    chain_scene_ends++;
}

/* Returns the distance of a row from the first one. */
static size_t offset_of(uint32_t row)
{
    return (size_t)row / GROUP_ROWS * GROUP_STEP + (size_t)row % GROUP_ROWS * STEP;
}

static bool is_moved(uint32_t row)
{
    return memcmp(chain_scene_out + offset_of(row), in + offset_of(row), WIDTH) == 0;
}

void chain_scene_assert_moved(uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++)
        assert_true(is_moved(row));
}

/* Polls until the end, and cancels after `polls` polls. */
void chain_scene_execute(uint32_t pace, uint32_t polls)
{
    struct mli_work work = {.plan = &chain_scene_plan, .done = chain_scene_on_end, .number = 1};

    *chain_model.pace = pace;
    memset(chain_scene_out, 0, sizeof(chain_scene_out));
    chain_scene_ends = 0;
    chain_model.engine->submit(0, &work);
    for (uint32_t i = 0; chain_scene_ends == 0; i++) {
        assert_true(i < STUCK);
        if (i == polls)
            work.cancelled = work.number;
        (void)chain_model.engine->poll(0, 1 + i % 3);
    }
    assert_int_equal(chain_model.engine->poll(0, 10), 0);
    assert_int_equal(chain_scene_ends, 1);
}

void chain_scene_cancels(void **state)
{
    uint32_t cancelled = 0;

    (void)state;
    moves_engine(chain_model.polled, 1);
    for (uint32_t polls = 0; polls < 300 * chain_model.cancel_step;
         polls += chain_model.cancel_step) {
        uint32_t rows;

        chain_scene_execute(1, polls);
        if (chain_scene_end.status == MLI_STATUS_OK) {
            chain_scene_assert_moved(ROWS);
            continue;
        }
        cancelled++;
        rows = (uint32_t)chain_scene_end.row;
        assert_int_equal(chain_scene_end.status, MLI_STATUS_CANCELLED);
        assert_int_equal(chain_scene_end.bytes, rows * WIDTH);
        chain_scene_assert_moved(rows);
        assert_false(is_moved(rows + 1 < ROWS ? rows + 1 : rows));
    }
    assert_true(cancelled > 100);
    chain_scene_execute(16, STUCK);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
    moves_engine_away();
}

void chain_scene_errors(void **state)
{
    (void)state;
    moves_engine(chain_model.polled, 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        *chain_model.fail_at = chain_scene_out + offset_of(row) + WIDTH / 2;
        chain_scene_execute(1 + row % 5, STUCK);
        assert_int_equal(chain_scene_end.status, MLI_STATUS_DMA_ERROR);
        assert_int_equal(chain_scene_end.row, row);
        assert_int_equal(chain_scene_end.bytes, row * WIDTH);
        chain_scene_assert_moved(row);
        *chain_model.fail_at = NULL;
        chain_scene_execute(16, STUCK);
        assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
        chain_scene_assert_moved(ROWS);
    }
    moves_engine_away();
}

/* The transfer of a program completes by interrupts alone, one for each list, or fails by one. */
void chain_scene_interrupts(void **state)
{
    struct mli_work work = {.plan = &chain_scene_plan, .done = chain_scene_on_end, .number = 1};

    (void)state;
    moves_engine(chain_model.interrupts, 1);
    *chain_model.pace = 0;
    chain_model.engine->submit(0, &work);
    for (uint32_t i = 0; chain_scene_ends == 0 && i < STUCK; i++)
        chain_model.run(1);
    assert_int_equal(chain_scene_ends, 0); /* the library polls work items of its own only */
    for (uint32_t i = 0; chain_scene_ends == 0 && i < STUCK; i++) {
        (void)chain_model.engine->poll(0, 1000);
        chain_model.run(1);
    }
    assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
    chain_scene_assert_moved(ROWS);
    chain_scene_ends = 0;
    *chain_model.fail_at = chain_scene_out + offset_of(50);
    chain_model.engine->submit(0, &work);
    for (uint32_t i = 0; chain_scene_ends == 0 && i < STUCK; i++) {
        const uint32_t before = *chain_model.handled;

        chain_model.run(1);
        if (*chain_model.handled != before) /* the handler has cleared the error */
            (void)chain_model.engine->poll(0, 1000);
    }
    assert_int_equal(chain_scene_end.status, MLI_STATUS_DMA_ERROR);
    assert_int_equal(chain_scene_end.row, 50);
    chain_scene_assert_moved(50);
    moves_engine_away();
}
