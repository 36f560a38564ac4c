/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the port for ZDMA on a model of the controller. The images of the board zcu102 test it on
 * QEMU's model.
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "boards/drivers/zdma.h"
#include "tests/support/rng.h"
#include "tests/unit/boards/zdma_model.h"
#include "tests/unit/port/moves.h"

static int setup(void **state)
{
    static const struct zdma_platform platform = {
        .channels = ZDMA_MODEL_CHANNELS,
        .interrupts = true,
        .read = zdma_model_read,
        .write = zdma_model_write,
    };

    (void)state;
    zdma_model_reset();
    zdma_set_platform(&platform);
    (void)mli_mov_add_engine(&zdma_engine); /* refused if an earlier test has added the engine */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK ? 0 : -1;
}

static void start(mli_mov_handle_t *h)
{
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
}

/* Runs a move on new channels, and checks it. */
static void run(struct move *m, int channels)
{
    mli_mov_handle_t h;

    move_prepare(m, channels, &h);
    start(&h);
    assert_ok(mli_mov_wait(&h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(&h));
    move_finish(m);
}

/* Runs the move again, which must succeed on the same channel, and releases the handle. */
static void finish_well(struct move *m, mli_mov_handle_t *h)
{
    zdma_model_poison(NULL, 0, false, false);
    zdma_model_watch(NULL);
    start(h);
    assert_ok(mli_mov_wait(h));
    assert_true(move_is_right(m));
    assert_ok(mli_mov_release_handle(h));
    move_finish(m);
}

static void assert_place(const mli_mov_handle_t *h, mli_status code, uint32_t row, uint32_t bytes)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_int_equal(status.code, code);
    assert_int_equal(status.descriptor, 0);
    assert_int_equal(status.row, row);
    assert_int_equal(status.bytes, bytes);
}

static const char *const forms[] = {"zdma:interrupt=0,least=0", "zdma:interrupt=0,least=0,linear=1",
                                    "zdma:interrupt=0"};

/* Tests lists of all sizes, in both forms, and pieces for the processor. */
static void test_lists_of_all_sizes(void **state)
{
    char spec[64];

    (void)state;
    for (size_t form = 0; form < COUNT_OF(forms); form++) {
        for (unsigned list = 1; list <= ZDMA_LIST_MAX; list += list < 5 ? 1 : 29) {
            struct move m;

            snprintf(spec, sizeof(spec), "%s,list=%u", forms[form], list);
            moves_engine(spec, 1);
            move_init(&m, 3, 4, 5, 6);
            run(&m, 1);
            move_init_rows(&m, 200, 3);
            run(&m, 1);
            move_init_padded(&m, 7, 65);
            run(&m, 1);
            moves_engine_away();
        }
    }
}

static void test_random_moves(void **state)
{
    struct rng rng = {.state = 16};
    char spec[96];

    (void)state;
    for (int i = 0; i < 150; i++) {
        const int channels = (int)rng_between(&rng, 1, ZDMA_MODEL_CHANNELS);
        struct move m;

        snprintf(spec, sizeof(spec), "zdma:interrupt=0,linear=%u,list=%u,run=%u,least=%u",
                 (unsigned)rng_below(&rng, 2), (unsigned)rng_between(&rng, 1, ZDMA_LIST_MAX),
                 (unsigned)rng_between(&rng, 1, 400), (unsigned)rng_below(&rng, 40));
        moves_engine(spec, channels);
        for (uint32_t c = 0; c < ZDMA_MODEL_CHANNELS; c++)
            zdma_model_set_pace(c, rng_between(&rng, 1, 20));
        if (i % 3 == 0)
            move_init(&m, rng_between(&rng, 1, 9), rng_between(&rng, 1, 9), rng_between(&rng, 1, 9),
                      rng_between(&rng, 1, 9));
        else if (i % 3 == 1)
            move_init_rows(&m, rng_between(&rng, 1, 60), rng_between(&rng, 1, 500));
        else
            move_init_padded(&m, rng_between(&rng, 1, 40), rng_between(&rng, 1, 300));
        run(&m, channels);
        moves_engine_away();
    }
}

/* Large fills have no source; small fills copy from a block of zeros. */
static void test_fills(void **state)
{
    struct move m;

    (void)state;
    moves_engine("zdma:interrupt=0", 1);
    move_init_padded(&m, 3, 100 * 1000);
    run(&m, 1);
    assert_int_equal(zdma_model_fills(), 2);
    move_init_padded(&m, 3, 10 * 1000);
    run(&m, 1);
    assert_int_equal(zdma_model_fills(), 2);
}

/* The processor transposes bytes: the driver makes no list, and the statistics count the bytes. */
static void test_processor_moves_what_is_not_worth_it(void **state)
{
    mli_mov_channel_stats stats;
    struct move m;

    (void)state;
    moves_engine("zdma:interrupt=0", 1);
    move_init(&m, 1, 1, 64, 64);
    run(&m, 1);
    assert_int_equal(zdma_model_lists(), 0);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.cpu_bytes, 64 * 64);
    assert_int_equal(stats.bytes, 64 * 64);
    moves_engine_away();
    moves_engine("zdma:interrupt=0,least=0", 1);
    move_init(&m, 1, 1, 64, 64);
    run(&m, 1);
    assert_int_equal(zdma_model_lists(), 64);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.cpu_bytes, 0);
    assert_int_equal(stats.queue_high_water, ZDMA_LIST_MAX);
}

/* The place of an error is the first row that may not be in memory. */
static void test_bus_errors(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        for (size_t form = 0; form < 2; form++) {
            struct move m;
            mli_mov_handle_t h;

            moves_engine(forms[form], 1);
            move_init_rows(&m, 100, 8);
            move_prepare(&m, 1, &h);
            if (side == 0)
                zdma_model_poison(m.in + 77 * 16 + 3, 1, true, false);
            else
                zdma_model_poison(m.out + 77 * 8 + 3, 1, false, true);
            start(&h);
            assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
            assert_place(&h, MLI_STATUS_DMA_ERROR, 77, 77 * 8);
            assert_int_equal(move_written(&m), 77 * 8);
            finish_well(&m, &h);
            moves_engine_away();
        }
    }
}

static void test_error_in_a_large_fill(void **state)
{
    mli_mov_status_t status;
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("zdma:interrupt=0", 1);
    move_init_padded(&m, 3, 100 * 1000);
    move_prepare(&m, 1, &h);
    zdma_model_poison(m.out + 5, 1, false, true);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_ok(mli_mov_get_status(&h, &status));
    assert_true(status.descriptor > 0);
    finish_well(&m, &h);
}

/* Overwrites the command of an element: 1, pause; 2, stop. */
static uint32_t element_to_change, command_to_write;

static void change_element(const uint32_t *src, const uint32_t *dst)
{
    uint8_t *control = (uint8_t *)(uintptr_t)(src + element_to_change * 2 * ZDMA_LINKED_WORDS + 3);

    (void)dst;
    *control = (uint8_t)((*control & 7) | command_to_write << 3);
}

/* A list that something has overwritten ends its work item with an error. */
static void test_overwritten_list(void **state)
{
    (void)state;
    for (command_to_write = 1; command_to_write <= 2; command_to_write++) {
        struct move m;
        mli_mov_handle_t h;

        moves_engine(forms[0], 1);
        move_init_rows(&m, 50, 8);
        move_prepare(&m, 1, &h);
        element_to_change = 20;
        zdma_model_watch(change_element);
        start(&h);
        assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
        assert_place(&h, MLI_STATUS_DMA_ERROR, 21, 21 * 8);
        finish_well(&m, &h);
        moves_engine_away();
    }
}

/* A cancel takes effect at the end of the list that the channel executes. */
static void test_cancel(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("zdma:interrupt=0,least=0,list=4", 1);
    zdma_model_set_pace(0, 0);
    move_init_rows(&m, 20, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    zdma_model_run(0, 2);
    assert_ok(mli_mov_cancel(&h));
    for (int i = 0; i < 3; i++)
        assert_false(mli_mov_isdone(&h)); /* the channel is still running */
    zdma_model_set_pace(0, 1);
    assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_place(&h, MLI_STATUS_CANCELLED, 4, 12);
    assert_int_equal(move_written(&m), 12);
    finish_well(&m, &h);
}

/* Cancels during the last list: everything is written, and the transfer is OK. */
static void test_cancel_of_a_complete_transfer(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("zdma:interrupt=0,least=0", 1);
    zdma_model_set_pace(0, 0);
    move_init_rows(&m, 4, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    zdma_model_run(0, 10);
    assert_ok(mli_mov_cancel(&h));
    assert_ok(mli_mov_wait(&h));
    zdma_model_set_pace(0, 1);
    finish_well(&m, &h);
}

/* If a channel ignores its start, a cancel ends the transfer. */
static void test_lost_start(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("zdma:interrupt=0,least=0", 1);
    move_init_rows(&m, 10, 3);
    move_prepare(&m, 1, &h);
    zdma_model_ignore_start(0, true);
    start(&h);
    for (int i = 0; i < 100; i++)
        assert_false(mli_mov_isdone(&h));
    assert_ok(mli_mov_cancel(&h));
    assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    assert_place(&h, MLI_STATUS_CANCELLED, 0, 0);
    zdma_model_ignore_start(0, false);
    finish_well(&m, &h);
}

/* A channel that hangs cannot be cancelled; a reset of the controller ends its work item. */
static void test_recover(void **state)
{
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    moves_engine("zdma:interrupt=0,least=0,list=4", 1);
    move_init_rows(&m, 10, 3);
    move_prepare(&m, 1, &h);
    start(&h);
    for (int i = 0; i < 5; i++)
        assert_false(mli_mov_isdone(&h));
    zdma_model_set_pace(0, 0);
    assert_ok(mli_mov_cancel(&h));
    for (int i = 0; i < 100; i++)
        assert_false(mli_mov_isdone(&h));
    zdma_model_reset();
    zdma_recover(0, ZDMA_MODEL_CHANNELS);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_place(&h, MLI_STATUS_DMA_ERROR, 4, 12);
    finish_well(&m, &h);
}

/* A thread that acts as the interrupt controller, and lets time pass for the channels. */
static atomic_bool over;
static _Atomic uint32_t interrupts;

static void *deliver_interrupts(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        for (uint32_t channel = 0; channel < ZDMA_MODEL_CHANNELS; channel++) {
            zdma_model_run(channel, 7);
            if (!zdma_model_interrupt(channel))
                continue;
            atomic_fetch_add(&interrupts, 1);
            zdma_interrupt(channel);
        }
    }
    return NULL;
}

static pthread_t begin_interrupts(const char *spec)
{
    pthread_t thread;

    moves_engine(spec, ZDMA_MODEL_CHANNELS);
    for (uint32_t channel = 0; channel < ZDMA_MODEL_CHANNELS; channel++)
        zdma_model_set_pace(channel, 0);
    atomic_store(&over, false);
    atomic_store(&interrupts, 0);
    assert_int_equal(pthread_create(&thread, NULL, deliver_interrupts, NULL), 0);
    return thread;
}

static void end_interrupts(pthread_t thread)
{
    atomic_store(&over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void test_interrupts(void **state)
{
    static const char *const specs[] = {"zdma", "zdma:least=0,list=3",
                                        "zdma:least=0,linear=1,list=5"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        const pthread_t thread = begin_interrupts(specs[i]);

        for (uint32_t k = 0; k < 20; k++) {
            struct move m;

            if (k % 2)
                move_init_padded(&m, 3 + k, 30);
            else
                move_init_rows(&m, 3 + k, 40);
            run(&m, 1 + (int)k % ZDMA_MODEL_CHANNELS);
        }
        end_interrupts(thread);
        moves_engine_away();
    }
    assert_true(atomic_load(&interrupts) > 0);
}

enum { CHAIN = 100 };

static mli_mov_handle_t chain_handle;
static _Atomic uint32_t chained;

static void start_again(int32_t cookie)
{
    (void)cookie;
    if (atomic_fetch_add(&chained, 1) + 1 < CHAIN)
        assert_ok(mli_mov_start(&chain_handle, NULL, NULL, NULL));
}

static void test_callbacks_start_transfers(void **state)
{
    const pthread_t thread = begin_interrupts("zdma:least=0,list=3");
    struct move m;

    (void)state;
    atomic_store(&chained, 0);
    move_init_rows(&m, 5, 16);
    move_prepare(&m, 1, &chain_handle);
    assert_ok(mli_mov_registercallback(&chain_handle, start_again, 0));
    start(&chain_handle);
    assert_ok(mli_mov_synchronise(&chain_handle));
    assert_int_equal(atomic_load(&chained), CHAIN);
    assert_true(move_is_right(&m));
    assert_ok(mli_mov_release_handle(&chain_handle));
    move_finish(&m);
    end_interrupts(thread);
}

static void test_error_and_cancel_by_interrupt(void **state)
{
    const pthread_t thread = begin_interrupts("zdma:least=0,list=4");
    struct move m;
    mli_mov_handle_t h;

    (void)state;
    move_init_rows(&m, 20, 8);
    move_prepare(&m, 1, &h);
    zdma_model_poison(m.out + 9 * 8, 1, false, true);
    start(&h);
    assert_status(mli_mov_wait(&h), MLI_STATUS_DMA_ERROR);
    assert_place(&h, MLI_STATUS_DMA_ERROR, 9, 72);
    finish_well(&m, &h);

    move_init_rows(&m, 20, 8);
    move_prepare(&m, 1, &h);
    for (uint32_t i = 0; i < ZDMA_MODEL_CHANNELS; i++)
        zdma_model_ignore_start(i, true);
    start(&h);
    assert_ok(mli_mov_cancel(&h));
    assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
    for (uint32_t i = 0; i < ZDMA_MODEL_CHANNELS; i++)
        zdma_model_ignore_start(i, false);
    finish_well(&m, &h);
    end_interrupts(thread);
}

static void test_options(void **state)
{
    static const char *const refused[] = {"zdma:list=0",   "zdma:list=65",     "zdma:run=0",
                                          "zdma:linear=2", "zdma:interrupt=2", "zdma:lists=1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        assert_status(mli_mov_set_engine(refused[i]), MLI_STATUS_ARGUMENT_ERROR);
    assert_int_equal(zdma_engine.poll(0, 16), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lists_of_all_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_random_moves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fills, setup, teardown),
        cmocka_unit_test_setup_teardown(test_processor_moves_what_is_not_worth_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bus_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_in_a_large_fill, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overwritten_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_of_a_complete_transfer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lost_start, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recover, setup, teardown),
        cmocka_unit_test_setup_teardown(test_interrupts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callbacks_start_transfers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_error_and_cancel_by_interrupt, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
