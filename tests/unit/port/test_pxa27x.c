/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the DMA of the PXA27x, also on channels that do not stop. */
#include "tests/support/unit.h"

#include "tests/unit/port/chain_scenes.h"
#include "tests/unit/port/moves.h"
#include "tests/unit/port/pxa27x_model.h"

/* A channel that does not stop keeps its work item. */
static void test_stuck(void **state)
{
    struct mli_work work = {.plan = &chain_scene_plan, .done = chain_scene_on_end, .number = 1};

    (void)state;
    moves_engine(chain_model.polled, 1);
    pxa27x_model.pace = 1;
    pxa27x_engine.submit(0, &work);
    for (uint32_t i = 0; i < 100; i++)
        (void)pxa27x_engine.poll(0, 1);
    pxa27x_model.stuck = true;
    work.cancelled = work.number;
    for (uint32_t i = 0; i < CHAIN_SCENE_POLLS; i++)
        (void)pxa27x_engine.poll(0, 1);
    assert_int_equal(chain_scene_ends, 0);
    pxa27x_model.stuck = false;
    for (uint32_t i = 0; chain_scene_ends == 0 && i < CHAIN_SCENE_POLLS; i++)
        (void)pxa27x_engine.poll(0, 1);
    assert_int_equal(chain_scene_ends, 1);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_CANCELLED);
    chain_scene_assert_moved((uint32_t)chain_scene_end.row);
    chain_scene_execute(16, CHAIN_SCENE_POLLS);
    assert_int_equal(chain_scene_end.status, MLI_STATUS_OK);
    moves_engine_away();
}

/* A cancel does not wait for a channel that does not stop; its interrupt ends the transfer later.
 */
static void test_stuck_with_interrupts(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine(chain_model.interrupts, 1);
    move_init_rows(&m, CHAIN_SCENE_ROWS, CHAIN_SCENE_WIDTH);
    move_prepare(&m, 1, &h);
    pxa27x_model.pace = 0;
    assert_int_equal(mli_mov_start(&h, &m.src, &m.cfg, &m.dst), MLI_STATUS_OK);
    pxa27x_model_run(100);
    pxa27x_model.stuck = true;
    assert_int_equal(mli_mov_cancel(&h), MLI_STATUS_OK);
    pxa27x_model_run(100);
    assert_false(mli_mov_isdone(&h));
    pxa27x_model.stuck = false;
    pxa27x_model_run(100);
    assert_true(mli_mov_isdone(&h));
    assert_int_equal(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_int_equal(mli_mov_release_handle(&h), MLI_STATUS_OK);
    move_finish(&m);
    moves_engine_away();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHAIN_SCENES,
        CHAIN_SCENE(test_stuck),
        CHAIN_SCENE(test_stuck_with_interrupts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
