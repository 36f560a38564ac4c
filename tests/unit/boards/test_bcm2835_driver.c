/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the functions of the BCM2835 engine without the channel pool: the budget of a poll, and
 * the caches.
 */
#include "tests/support/unit.h"

#include <string.h>

#include "tests/unit/boards/bcm2835_model.h"
#include "tests/unit/boards/bus_windows.h"
#include "tests/unit/port/moves.h"

enum { ROWS = 40, WIDTH = 24, SHORT = 4 };

static uint8_t in[ROWS * 2 * WIDTH], out[ROWS * 2 * WIDTH], zeros[SHORT];

/* Makes rows for the controller and, with the option run=8, zeros for the processor. */
static const struct mli_plan plan = {
    .bytes = ROWS * WIDTH + sizeof(zeros),
    .slabs = 1,
    .slab = {{.dst = zeros, .run = sizeof(zeros)}},
    .box = {.src = in,
            .dst = out,
            .run = WIDTH,
            .loops = 1,
            .loop = {{.count = ROWS, .src_step = 2 * WIDTH, .dst_step = 2 * WIDTH}}}};

static uint32_t ended, cleaned, invalidated;

static int setup(void **state)
{
    (void)state;
    bcm2835_model_reset();
    bcm2835_model.pace = 1000;
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

static void on_end(struct mli_work *work, const struct mli_work_end *end)
{
    (void)work;
    assert_int_equal(end->status, MLI_STATUS_OK);
    assert_int_equal(end->bytes, plan.bytes);
    ended++;
}

/* Executes the plan by polls with a budget. Returns the number of pieces. */
static uint32_t execute(const char *spec, uint32_t budget)
{
    struct mli_work work = {.plan = &plan, .done = on_end};
    uint32_t pieces = 0;

    moves_engine(spec, 1);
    memset(in, 7, sizeof(in));
    memset(out, 0, sizeof(out));
    memset(zeros, 1, sizeof(zeros));
    ended = 0;
    bcm2835_engine.submit(0, &work);
    while (ended == 0) {
        const uint32_t done = bcm2835_engine.poll(0, budget);

        assert_true(done <= budget);
        pieces += done;
    }
    assert_int_equal(bcm2835_engine.poll(0, budget), 0);
    assert_int_equal(out[(ROWS - 1) * 2 * WIDTH + WIDTH - 1], 7);
    assert_int_equal(zeros[SHORT - 1], 0);
    moves_engine_away();
    return pieces;
}

/* A poll completes at most `budget` pieces, including those that the processor moves. */
static void test_budget(void **state)
{
    (void)state;
    for (uint32_t budget = 1; budget < 5; budget++) {
        assert_int_equal(execute("bcm2835:interrupt=0,run=0,piece=0,lite=1", budget), ROWS + 1);
        assert_int_equal(execute("bcm2835:interrupt=0,run=8,piece=0", budget), 2);
    }
}

/*
 * Before the start, all cache lines may be cleaned. Later, only mli_piece_move() cleans the lines
 * that the processor wrote.
 */
static void clean(const void *address, size_t bytes)
{
    (void)bytes;
    assert_true(bcm2835_model.chains == 0 || address == zeros);
    cleaned++;
}

/* The controller is idle, and the processor has written nothing. */
static void invalidate(const void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
    assert_int_equal(bcm2835_model.chains, 1);
    assert_int_equal(out[(ROWS - 1) * 2 * WIDTH], 7);
    assert_int_equal(zeros[0], 1);
    assert_int_equal(ended, 0);
    invalidated++;
}

static uint64_t bus_address(const void *memory)
{
    uint64_t bus;

    assert_true(bus_windows_address(memory, &bus));
    return bus;
}

/* Cleans caches before the chain starts, and invalidates them before the processor moves
 * pieces. */
static void test_caches(void **state)
{
    static const struct mli_platform platform = {.size = sizeof(platform),
                                                 .clean = clean,
                                                 .clean_invalidate = clean,
                                                 .invalidate = invalidate,
                                                 .bus_address = bus_address};

    (void)state;
    assert_ok(mli_mov_set_platform(&platform));
    cleaned = invalidated = 0;
    assert_int_equal(execute("bcm2835:interrupt=0,run=8,piece=0", 10), 2);
    assert_true(cleaned >= 3); /* source, destination and control blocks */
    assert_true(invalidated > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
        cmocka_unit_test_setup_teardown(test_caches, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
