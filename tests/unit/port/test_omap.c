/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the system DMA of the OMAP2420: links, elements in two loops, and channels that do
   not stop. */
#include "tests/support/unit.h"

#include <string.h>

#include "tests/unit/port/chain_scenes.h"
#include "tests/unit/port/moves.h"
#include "tests/unit/port/omap_model.h"

/* Moves of two loops. */

enum { OUTER = 7, INNER = 8, ROWS = OUTER * INNER, ROW_MAX = 12, BYTES = 4096 };

static _Alignas(4) uint8_t in[BYTES], out[BYTES];

/* Seven blocks of eight rows: two chains. */
static const struct mli_plan blocks = {
    .bytes = ROWS * 12,
    .box = {.src = in,
            .dst = out,
            .run = 12,
            .loops = 2,
            .loop = {{.count = OUTER, .src_step = 100, .dst_step = 200},
                     {.count = INNER, .src_step = 16, .dst_step = 20}}}};

/* One block: a transpose of words. */
static const struct mli_plan transpose = {
    .bytes = ROWS * 4,
    .box = {.src = in,
            .dst = out,
            .run = 4,
            .loops = 2,
            .loop = {{.count = OUTER, .src_step = 4, .dst_step = 36},
                     {.count = INNER, .src_step = 28, .dst_step = 4}}}};

/* One block: both sides have steps between elements of two bytes. */
static const struct mli_plan scattered = {
    .bytes = ROWS * 2,
    .box = {.src = in,
            .dst = out,
            .run = 2,
            .loops = 2,
            .loop = {{.count = OUTER, .src_step = 2, .dst_step = 56},
                     {.count = INNER, .src_step = 28, .dst_step = 6}}}};

/* One block of zeros. */
static const struct mli_plan zeros = {
    .bytes = ROWS * 3,
    .slabs = 1,
    .slab = {{.dst = out + 1, .run = 3, .loops = 1, .loop = {{.count = ROWS, .step = 7}}}}};

static uint8_t *row_of(const struct mli_plan *plan, uint32_t row, const uint8_t **from)
{
    const struct mli_copy_box *box = &plan->box;
    const size_t outer = row / INNER, inner = row % INNER;

    if (plan->slabs > 0) {
        *from = NULL;
        return plan->slab[0].dst + row * plan->slab[0].loop[0].step;
    }
    *from = box->src + outer * box->loop[0].src_step + inner * box->loop[1].src_step;
    return box->dst + outer * box->loop[0].dst_step + inner * box->loop[1].dst_step;
}

static size_t run_of(const struct mli_plan *plan)
{
    return plan->slabs > 0 ? plan->slab[0].run : plan->box.run;
}

/* Asserts that rows before `rows` are moved, that later ones than `rows` are not, and nothing else.
 */
static void assert_rows(const struct mli_plan *plan, uint32_t rows)
{
    static const uint8_t none[ROW_MAX];
    static uint8_t expected[BYTES];
    const uint8_t *from;
    uint8_t *to;

    memset(expected, 0xa5, sizeof(expected));
    for (uint32_t row = 0; row < ROWS && row < rows; row++) {
        to = row_of(plan, row, &from);
        memcpy(expected + (to - out), from ? from : none, run_of(plan));
    }
    if (rows < ROWS) { /* this row may be written in part */
        to = row_of(plan, rows, &from);
        memcpy(expected + (to - out), to, run_of(plan));
    }
    assert_memory_equal(out, expected, sizeof(out));
}

/* Moves a plan. Cancels after `polls` polls. */
static void execute(const struct mli_plan *plan, uint32_t pace, uint32_t polls)
{
    struct mli_work work = {.plan = plan, .done = chain_scene_on_end, .number = 1};

    for (uint32_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 11 + (i >> 8) + 1);
    memset(out, 0xa5, sizeof(out));
    omap_model.pace = pace;
    chain_scene_ends = 0;
    omap_engine.submit(0, &work);
    for (uint32_t i = 0; chain_scene_ends == 0; i++) {
        assert_true(i < CHAIN_SCENE_POLLS);
        if (i == polls)
            work.cancelled = work.number;
        (void)omap_engine.poll(0, 1 + i % 3);
    }
    assert_int_equal(chain_scene_ends, 1);
}

/* Moves a plan, then fails in each row, and cancels at each poll. */
static void play(const struct mli_plan *plan, uint32_t blocks_expected)
{
    const uint32_t before = omap_model.blocks;
    uint32_t cancelled = 0;

    execute(plan, 16, CHAIN_SCENE_POLLS);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
    assert_int_equal(chain_scene_end.bytes, plan->bytes);
    assert_int_equal(omap_model.blocks - before, blocks_expected);
    assert_rows(plan, ROWS);
    for (uint32_t row = 0; row < ROWS; row++) {
        const uint8_t *from;

        omap_model.fail_at = row_of(plan, row, &from) + run_of(plan) / 2;
        execute(plan, 1 + row % 5, CHAIN_SCENE_POLLS);
        omap_model.fail_at = NULL;
        assert_int_equal(chain_scene_end.status, MLI_STATUS_DMA_ERROR);
        assert_int_equal(chain_scene_end.descriptor, plan->slabs);
        assert_int_equal(chain_scene_end.row, row);
        assert_int_equal(chain_scene_end.bytes, row * run_of(plan));
        assert_rows(plan, row);
    }
    for (uint32_t polls = 0; polls < 2000; polls++) {
        execute(plan, 1, polls);
        assert_rows(plan,
                    chain_scene_end.status == MLI_STATUS_OK ? ROWS : (uint32_t)chain_scene_end.row);
        if (chain_scene_end.status == MLI_STATUS_OK)
            break;
        assert_int_equal(chain_scene_end.status, MLI_STATUS_CANCELLED);
        cancelled++;
    }
    assert_true(cancelled > 10);
}

static void test_blocks(void **state)
{
    (void)state;
    moves_engine(chain_model.polled, 1);
    play(&blocks, OUTER);
    assert_true(omap_model.links > 0);
    moves_engine_away();
    moves_engine("omap:interrupt=0,run=0,piece=0,items=1", 1);
    omap_model.links = 0;
    play(&blocks, OUTER);
    assert_int_equal(omap_model.links, 0);
    moves_engine_away();
}

static void test_elements(void **state)
{
    (void)state;
    moves_engine(chain_model.polled, 1);
    play(&transpose, 1);
    play(&scattered, 1);
    play(&zeros, 1);
    moves_engine_away();
}

/* Short rows are the processor's, but not elements of a block. */
static void test_defaults(void **state)
{
    (void)state;
    moves_engine("omap:interrupt=0,piece=0", 1);
    omap_model.blocks = 0;
    execute(&transpose, 16, CHAIN_SCENE_POLLS);
    assert_rows(&transpose, ROWS);
    assert_int_equal(omap_model.blocks, 1);
    execute(&zeros, 16, CHAIN_SCENE_POLLS);
    assert_rows(&zeros, ROWS);
    assert_int_equal(omap_model.blocks, 1);
    moves_engine_away();
}

/* A channel that does not stop keeps its work item. */
static void test_stuck(void **state)
{
    struct mli_work work = {.plan = &chain_scene_plan, .done = chain_scene_on_end, .number = 1};

    (void)state;
    moves_engine(chain_model.polled, 1);
    omap_model.pace = 1;
    omap_engine.submit(0, &work);
    for (uint32_t i = 0; i < 100; i++)
        (void)omap_engine.poll(0, 1);
    omap_model.stuck = true;
    work.cancelled = work.number;
    for (uint32_t i = 0; i < CHAIN_SCENE_POLLS; i++)
        (void)omap_engine.poll(0, 1);
    assert_int_equal(chain_scene_ends, 0);
    omap_model.stuck = false;
    for (uint32_t i = 0; chain_scene_ends == 0 && i < CHAIN_SCENE_POLLS; i++)
        (void)omap_engine.poll(0, 1);
    assert_int_equal(chain_scene_ends, 1);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_CANCELLED);
    chain_scene_assert_moved((uint32_t)chain_scene_end.row);
    chain_scene_execute(16, CHAIN_SCENE_POLLS);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
    moves_engine_away();
}

/* A cancel does not wait for a channel that does not stop. A channel that is disabled raises no
   interrupt: a poll ends the transfer later. */
static void test_stuck_with_interrupts(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine(chain_model.interrupts, 1);
    move_init_rows(&m, CHAIN_SCENE_ROWS, CHAIN_SCENE_WIDTH);
    move_prepare(&m, 1, &h);
    omap_model.pace = 0;
    assert_int_equal(mli_mov_start(&h, &m.src, &m.cfg, &m.dst), MLI_STATUS_OK);
    omap_model_run(100);
    omap_model.stuck = true;
    assert_int_equal(mli_mov_cancel(&h), MLI_STATUS_OK);
    omap_model_run(100);
    assert_false(mli_mov_isdone(&h));
    omap_model.stuck = false;
    omap_model_run(100);
    (void)mli_mov_poll();
    assert_true(mli_mov_isdone(&h));
    assert_int_equal(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_int_equal(mli_mov_release_handle(&h), MLI_STATUS_OK);
    move_finish(&m);
    moves_engine_away();
}

/* A logical channel of another program keeps the engine away. */
static void test_taken(void **state)
{
    (void)state;
    omap_model_start_elsewhere(OMAP_MODEL_FIRST + 2);
    assert_int_equal(mli_mov_set_engine(chain_model.polled), MLI_STATUS_OK);
    assert_int_not_equal(mli_mov_set_num_dma_ch(0, 1), MLI_STATUS_OK);
    assert_non_null(strstr(mli_last_error(), "another program"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHAIN_SCENES,
        CHAIN_SCENE(test_blocks),
        CHAIN_SCENE(test_elements),
        CHAIN_SCENE(test_defaults),
        CHAIN_SCENE(test_stuck),
        CHAIN_SCENE(test_stuck_with_interrupts),
        CHAIN_SCENE(test_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
