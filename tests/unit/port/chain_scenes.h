/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenes for engines of controllers that execute chains, on models in which time passes: ends,
 * errors and cancels in every row. The plan has CHAIN_SCENE_ROWS rows in ten rectangles, so that
 * each engine makes several pieces. The scene of interrupts polls once after each interrupt, so a
 * poll must find the end.
 */
#ifndef TEST_CHAIN_SCENES_H
#define TEST_CHAIN_SCENES_H

#include "mli_engine.h"

enum {
    CHAIN_SCENE_ROWS = 100,
    CHAIN_SCENE_WIDTH = 24,    /* bytes of a row */
    CHAIN_SCENE_STEP = 32,     /* bytes from a row to the next */
    CHAIN_SCENE_POLLS = 100000 /* more polls than any scene needs */
};

/* The engine of a controller, and the model of the controller. */
struct chain_model {
    const struct mli_engine *engine;
    const char *polled, *interrupts; /* engine specifications; the controller moves every byte */
    uint32_t cancel_step;            /* the scene of cancels takes every n-th poll */
    uint32_t *pace;                  /* how far the model goes when time passes; 0: not in polls */
    const uint32_t *handled;         /* interrupts that were handled */
    const uint8_t **fail_at;         /* a write to this byte is an error; null: none */
    void (*reset)(void);
    void (*run)(uint32_t steps); /* lets time pass */
    const char *(*complaint)(void);
};

/** The model of this program. */
extern const struct chain_model chain_model;

extern uint8_t chain_scene_out[];
extern const struct mli_plan chain_scene_plan;
extern struct mli_work_end chain_scene_end; /* of the last work item, */
extern uint32_t chain_scene_ends;           /* and the number of ends */

/** Sets the end and counts it; `done` of work items. */
void chain_scene_on_end(struct mli_work *work, const struct mli_work_end *end);
/** Asserts that the first `rows` rows are moved. */
void chain_scene_assert_moved(uint32_t rows);
/** Moves with polls up to the end, and cancels after `polls` polls. */
void chain_scene_execute(uint32_t pace, uint32_t polls);

int chain_scene_setup(void **state);
int chain_scene_teardown(void **state);
void chain_scene_cancels(void **state);
void chain_scene_errors(void **state);
void chain_scene_interrupts(void **state);

#define CHAIN_SCENE(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, chain_scene_setup, chain_scene_teardown)
#define CHAIN_SCENES                                                                               \
    CHAIN_SCENE(chain_scene_cancels), CHAIN_SCENE(chain_scene_errors),                             \
        CHAIN_SCENE(chain_scene_interrupts)

#endif /* TEST_CHAIN_SCENES_H */
