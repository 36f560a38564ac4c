/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the functions of the port without the channel pool, as the first test of a new port does.
 * Also tests the mock device, because all tests rely on it.
 */
#include "tests/support/unit.h"

#include <string.h>

#include "libmli/port/mock/mock_device.h"
#include "libmli/port/mock/mock_engine.h"

enum { ROWS = 40, WIDTH = 3, PITCH = 7 };

static uint8_t in[ROWS * PITCH], out[ROWS * PITCH];
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

/* Begins a work item with a plan of rows: one descriptor for each row, without hardware loops. */
static void begin(uint32_t ring)
{
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (uint8_t)(i + 1);
    memset(out, 0, sizeof(out));
    plan = (struct mli_plan){.bytes = (size_t)ROWS * WIDTH};
    plan.box = (struct mli_copy_box){.src = in, .dst = out, .run = WIDTH, .loops = 1};
    plan.box.loop[0] = (struct mli_copy_loop){ROWS, PITCH, PITCH};
    work = (struct mli_work){.plan = &plan, .done = done};
    dones = 0;
    assert_true(mock_engine.option("", 0, 0) && mock_engine.option("loops", 5, 0) &&
                mock_engine.option("ring", 4, ring));
    assert_true(mock_engine.open(0));
}

static int teardown(void **state)
{
    (void)state;
    mock_device_set_pace(0, 1);
    mock_engine.synchronise(0);
    mock_engine.close(0);
    return 0;
}

static void assert_moved(void)
{
    for (size_t i = 0; i < sizeof(out); i++)
        assert_int_equal(out[i], i % PITCH < WIDTH ? in[i] : 0);
}

static void test_idle_channel(void **state)
{
    (void)state;
    begin(4);
    assert_int_equal(mock_engine.poll(0, 16), 0);
    assert_null(mock_engine.cancel);
    assert_int_equal(dones, 0);
}

/* The device is faster than the budget: no descriptor is lost, and no poll exceeds its budget. */
static void test_budget(void **state)
{
    uint32_t completed = 0, polls = 0;

    (void)state;
    begin(8);
    mock_device_set_pace(0, 100);
    mock_engine.submit(0, &work);
    assert_int_equal(mock_engine.poll(0, 0), 0);
    while (dones == 0) {
        const uint32_t now = mock_engine.poll(0, 3);

        assert_true(now <= 3);
        completed += now;
        polls++;
        assert_int_equal(work.written, completed * WIDTH);
    }
    assert_int_equal(completed, ROWS);
    assert_true(polls >= ROWS / 3);
    assert_int_equal(end.status, MLI_STATUS_OK);
    assert_int_equal(end.bytes, plan.bytes);
    assert_int_equal(mock_engine.poll(0, 3), 0);
    assert_int_equal(dones, 1);
    assert_moved();
}

/* A poll that has used up its budget reports both an error and the descriptors before the error. */
static void test_budget_and_error(void **state)
{
    uint32_t completed = 0;

    (void)state;
    begin(8);
    mock_device_set_pace(0, 100);
    mock_device_fail_after(0, 5);
    mock_engine.submit(0, &work);
    while (dones == 0)
        completed += mock_engine.poll(0, 2);
    assert_int_equal(completed, 5);
    assert_int_equal(end.status, MLI_STATUS_DMA_ERROR);
    assert_int_equal(end.row, 5);
    assert_int_equal(end.bytes, 5 * WIDTH);
}

/* A work item may be cancelled before submit. */
static void test_cancelled_from_the_start(void **state)
{
    (void)state;
    begin(4);
    work.number = work.cancelled = 1;
    mock_engine.submit(0, &work);
    while (dones == 0)
        (void)mock_engine.poll(0, 16);
    assert_int_equal(end.status, MLI_STATUS_CANCELLED);
    assert_int_equal(end.bytes, 0);
}

static void test_caps(void **state)
{
    struct mli_channel_caps caps = {0};

    (void)state;
    begin(4);
    mock_engine.caps(0, &caps);
    assert_int_equal(caps.flags, MLI_CHANNEL_POLLED);
    assert_int_equal(caps.loops, 0);
    assert_true(mock_engine.option("", 0, 0));
    mock_engine.caps(0, &caps);
    assert_int_equal(caps.loops, MOCK_LOOPS);
}

/* Prepares the device with a ring of two slots that has one descriptor. */
static struct mock_descriptor slots[2];

static void ring_up(const struct mock_descriptor *descriptor)
{
    slots[0] = *descriptor;
    mock_device_write(1, MOCK_CONTROL, MOCK_RESET);
    mock_device_write(1, MOCK_RING_BASE, (uintptr_t)slots);
    mock_device_write(1, MOCK_RING_SIZE, 2);
    mock_device_write(1, MOCK_CONTROL, MOCK_ENABLE | MOCK_RESET);
    mock_device_write(1, MOCK_TAIL, 1);
}

static const struct mock_descriptor legal = {.run = 1, .loop = {{.count = 1}, {.count = 1}}};

static void test_device_refuses_descriptors(void **state)
{
    struct mock_descriptor bad[8];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        bad[i] = legal;
    bad[0].run = 0;
    bad[1].run = MOCK_RUN_MAX + 1;
    bad[2].flags = 2;
    bad[3].loop[0].count = 0;
    bad[4].loop[1].count = MOCK_COUNT_MAX + 1;
    bad[5].loop[0].src_step = MOCK_STEP_MAX + 1;
    bad[6].loop[1].dst_step = MOCK_STEP_MAX + 1;
    bad[7].loop[1].count = 0;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        ring_up(&bad[i]);
        assert_int_equal(mock_device_read(1, MOCK_STATUS), MOCK_ERROR);
        assert_int_equal(mock_device_read(1, MOCK_FAULT), 0);
        assert_int_equal(mock_device_read(1, MOCK_HEAD), 0);
    }
    mock_device_write(1, MOCK_CONTROL, MOCK_RESET);
    assert_int_equal(mock_device_read(1, MOCK_STATUS), 0);
}

static void test_device_protects_its_ring(void **state)
{
    struct mock_descriptor d = legal;

    (void)state;
    d.dst = (uintptr_t)out;
    d.src = (uintptr_t)in;
    ring_up(&d);
    mock_device_write(1, MOCK_RING_SIZE, 77);
    mock_device_write(1, MOCK_TAIL, 77);
    /* ignored while the device is busy */
    mock_device_write(1, MOCK_CONTROL, MOCK_ENABLE | MOCK_RESET);
    assert_int_equal(mock_device_read(1, MOCK_RING_SIZE), 2);
    assert_int_equal(mock_device_read(1, MOCK_TAIL), 1);
    assert_int_equal(mock_device_read(1, MOCK_RING_BASE), (uintptr_t)slots);
    assert_int_equal(mock_device_read(1, MOCK_STATUS), MOCK_BUSY);
    assert_int_equal(mock_device_read(1, MOCK_HEAD), 1);
    assert_int_equal(mock_device_read(1, MOCK_STATUS), 0);
    mock_device_write(1, MOCK_CONTROL, MOCK_RESET);
    assert_int_equal(mock_device_read(1, MOCK_TAIL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_idle_channel, teardown),
        cmocka_unit_test_teardown(test_budget, teardown),
        cmocka_unit_test_teardown(test_budget_and_error, teardown),
        cmocka_unit_test_teardown(test_cancelled_from_the_start, teardown),
        cmocka_unit_test_teardown(test_caps, teardown),
        cmocka_unit_test(test_device_refuses_descriptors),
        cmocka_unit_test(test_device_protects_its_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
