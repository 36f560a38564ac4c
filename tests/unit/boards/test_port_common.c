/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests chains of descriptors on a controller that executes one item whenever its state is read. */
#include "tests/support/unit.h"

#include <string.h>

#include "boards/drivers/chain.h"
#include "libmli/port/option.h"

enum { ROWS = 70, WIDTH = 6, STEP = 8, ITEMS_OF_PIECE = 2, ITEMS_MAX = 16, STUCK = 100000 };

static uint8_t in[ROWS * STEP], out[ROWS * STEP];

static const struct mli_plan plan = {
    .bytes = ROWS * WIDTH,
    .box = {.src = in,
            .dst = out,
            .run = WIDTH,
            .loops = 1,
            .loop = {{.count = ROWS, .src_step = STEP, .dst_step = STEP}}}};

/* A controller whose items move half a row each. */
static struct {
    struct {
        const uint8_t *src;
        uint8_t *dst;
    } items[CHAIN_COUNT][ITEMS_MAX];
    uint32_t linked[CHAIN_COUNT], chain, at;
    bool runs, deaf;         /* deaf: a channel does not stop on request */
    uint32_t fails_in;       /* number of the row whose second item fails */
    uint32_t refused;        /* number of the row that encode() refuses */
    uint32_t looks_to_stop;  /* number of reads of the state after a request to stop */
    uint32_t starts, clears; /* calls */
    bool success;
} device;

static struct chain_channel channel;
static struct mli_work_end ended;
static uint32_t ends;

static void caps(uint32_t number, struct mli_channel_caps *caps)
{
    (void)number;
    caps->flags = MLI_CHANNEL_POLLED;
    caps->run_max = WIDTH;
}

static uint32_t row_of(const uint8_t *dst)
{
    return (uint32_t)(dst - out) / STEP;
}

static uint32_t encode(uint32_t number, uint32_t chain, uint32_t first,
                       const struct mli_descriptor *piece)
{
    (void)number;
    assert_true(first + ITEMS_OF_PIECE <= ITEMS_MAX);
    assert_int_equal(piece->box.run, WIDTH);
    if (row_of(piece->box.dst) == device.refused)
        return 0;
    for (uint32_t i = 0; i < ITEMS_OF_PIECE; i++) {
        device.items[chain][first + i].src = piece->box.src + i * WIDTH / ITEMS_OF_PIECE;
        device.items[chain][first + i].dst = piece->box.dst + i * WIDTH / ITEMS_OF_PIECE;
    }
    return ITEMS_OF_PIECE;
}

static void link_items(uint32_t number, uint32_t chain, uint32_t count)
{
    (void)number;
    assert_false(device.runs && device.chain == chain);
    device.linked[chain] = count;
}

static void start(uint32_t number, uint32_t chain)
{
    (void)number;
    assert_false(device.runs);
    assert_true(device.linked[chain] > 0);
    device.runs = true;
    device.chain = chain;
    device.at = 0;
    device.starts++;
}

static enum chain_state look(uint32_t number, enum chain_stop stop)
{
    uint8_t *dst;

    (void)number;
    assert_true(device.runs);
    device.looks_to_stop += stop == CHAIN_CANCELLED;
    if (stop == CHAIN_GIVE_UP || (stop == CHAIN_CANCELLED && !device.deaf)) {
        device.runs = false;
        return CHAIN_STOPPED;
    }
    if (stop == CHAIN_CANCELLED)
        return CHAIN_STOPPING;
    dst = device.items[device.chain][device.at].dst;
    if (row_of(dst) == device.fails_in && device.at % ITEMS_OF_PIECE == 1) {
        device.runs = false;
        return CHAIN_FAILED;
    }
    memcpy(dst, device.items[device.chain][device.at].src, WIDTH / ITEMS_OF_PIECE);
    if (++device.at < device.linked[device.chain])
        return CHAIN_BUSY;
    device.runs = false;
    return CHAIN_ENDED;
}

static uint32_t position(uint32_t number, uint32_t chain, uint32_t count)
{
    (void)number;
    assert_int_equal(chain, device.chain);
    assert_int_equal(count, device.linked[chain]);
    return device.at;
}

static void clear(uint32_t number, bool success)
{
    (void)number;
    assert_false(device.runs);
    device.clears++;
    device.success = success;
}

static const struct chain_controller controller = {
    .piece_items = ITEMS_OF_PIECE,
    .caps = caps,
    .encode = encode,
    .link = link_items,
    .start = start,
    .look = look,
    .position = position,
    .clear = clear,
};

static void on_end(struct mli_work *work, const struct mli_work_end *end)
{
    (void)work;
    ended = *end;
    ends++;
}

static int setup(void **state)
{
    const struct chain_setup chain = {.controller = &controller, .items_max = ITEMS_MAX};

    (void)state;
    memset(&device, 0, sizeof(device));
    device.fails_in = device.refused = UINT32_MAX;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i * 7 + 1);
    memset(out, 0, sizeof(out));
    ends = 0;
    chain_open(&channel, &chain);
    return 0;
}

static uint32_t rows_moved(void)
{
    uint32_t rows = 0;

    for (uint32_t row = 0; row < ROWS; row++)
        rows += memcmp(out + row * STEP, in + row * STEP, WIDTH) == 0;
    return rows;
}

/* Polls until the work item ends; cancels it after `polls` polls. Returns the number of pieces. */
static uint32_t execute(uint32_t budget, uint32_t polls)
{
    struct mli_work work = {.plan = &plan, .done = on_end, .number = 1};
    uint32_t pieces = 0;

    chain_submit(&channel, &work);
    for (uint32_t i = 0; ends == 0; i++) {
        uint32_t done;

        assert_true(i < STUCK);
        if (i == polls)
            work.cancelled = work.number;
        done = chain_poll(&channel, budget);
        assert_true(done <= budget);
        pieces += done;
    }
    assert_int_equal(ends, 1);
    assert_int_equal(device.clears, 1);
    assert_int_equal(device.success, ended.status == MLI_STATUS_OK);
    assert_int_equal(chain_poll(&channel, budget), 0); /* the channel has no work item any more */
    return pieces;
}

static void test_all_chains(void **state)
{
    (void)state;
    for (uint32_t budget = 1; budget < 12; budget += 5) {
        (void)setup(NULL);
        assert_int_equal(execute(budget, STUCK), ROWS);
        assert_int_equal(ended.status, MLI_STATUS_OK);
        assert_int_equal(ended.bytes, plan.bytes);
        assert_int_equal(rows_moved(), ROWS);
        assert_int_equal(device.starts, (ROWS * ITEMS_OF_PIECE + ITEMS_MAX - 1) / ITEMS_MAX);
    }
}

/* A row takes two items. If the second one fails, the row does not count as written. */
static void test_error_in_every_row(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < ROWS; row++) {
        (void)setup(NULL);
        device.fails_in = row;
        assert_int_equal(execute(1 + row % 3, STUCK), row);
        assert_int_equal(ended.status, MLI_STATUS_DMA_ERROR);
        assert_int_equal(ended.row, row);
        assert_int_equal(ended.bytes, row * WIDTH);
        assert_int_equal(rows_moved(), row);
    }
}

static void test_cancel_after_every_poll(void **state)
{
    (void)state;
    for (uint32_t polls = 0; polls < ROWS * ITEMS_OF_PIECE; polls++) {
        (void)setup(NULL);
        (void)execute(8, polls);
        assert_int_equal(ended.status, MLI_STATUS_CANCELLED);
        assert_int_equal(ended.row, polls / ITEMS_OF_PIECE);
        assert_int_equal(ended.bytes, ended.row * WIDTH);
        assert_int_equal(rows_moved(), ended.row);
    }
}

/* After CHAIN_STOP_POLLS polls, the channel no longer waits for a controller that does not stop. */
static void test_deaf_channel(void **state)
{
    (void)state;
    device.deaf = true;
    (void)execute(8, 5);
    assert_int_equal(ended.status, MLI_STATUS_CANCELLED);
    assert_int_equal(device.looks_to_stop, CHAIN_STOP_POLLS);
    assert_int_equal(ended.row, 2);
}

/* The processor moves the pieces that the controller refuses, while the channel is idle. */
static void test_piece_for_the_processor(void **state)
{
    (void)state;
    device.refused = 21;
    assert_int_equal(execute(3, STUCK), ROWS);
    assert_int_equal(ended.bytes, plan.bytes);
    assert_int_equal(rows_moved(), ROWS);
}

static void test_bus_of_32_bits(void **state)
{
    uint32_t bus;

    (void)state;
    assert_true(chain_bus32((const void *)(uintptr_t)0xfffffff0, 16, &bus));
    assert_int_equal(bus, 0xfffffff0);
    assert_false(chain_bus32((const void *)(uintptr_t)0xfffffff0, 17, &bus));
    if (sizeof(uintptr_t) > 4)
        assert_false(chain_bus32((const void *)(uintptr_t)UINT64_C(0x100000000), 1, &bus));
}

static void test_options(void **state)
{
    static _Atomic uint32_t first = 1, second = 2;
    static const struct port_option options[] = {{"first", &first, 3, 2, 9},
                                                 {"second", &second, 0, 0, UINT32_MAX}};

    (void)state;
    assert_true(port_option_set(options, 2, "", 0, 0));
    assert_int_equal(port_option_get(&first), 3);
    assert_int_equal(port_option_get(&second), 0);
    assert_true(port_option_set(options, 2, "first=", 5, 9));
    assert_false(port_option_set(options, 2, "first", 5, 10));
    assert_false(port_option_set(options, 2, "first", 5, 1));
    assert_false(port_option_set(options, 2, "firs", 4, 5));
    assert_false(port_option_set(options, 2, "firsts", 6, 5));
    assert_false(port_option_set(options, 2, "second", 6, UINT64_C(1) << 32));
    assert_true(port_option_set(options, 2, "second", 6, UINT32_MAX));
    assert_int_equal(port_option_get(&first), 9);
    assert_int_equal(port_option_get(&second), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_all_chains, setup),
        cmocka_unit_test_setup(test_error_in_every_row, setup),
        cmocka_unit_test_setup(test_cancel_after_every_poll, setup),
        cmocka_unit_test_setup(test_deaf_channel, setup),
        cmocka_unit_test_setup(test_piece_for_the_processor, setup),
        cmocka_unit_test(test_bus_of_32_bits),
        cmocka_unit_test(test_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
