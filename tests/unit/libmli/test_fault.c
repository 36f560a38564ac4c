/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer on one channel fails: at each of its descriptors, in the first, a middle and the last
 * row. The loops of the spy engine compute which bytes must be written by then.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/load.h"
#include "tests/support/spy.h"
#include "tests/support/unit.h"

static const char *engines[] = {"inline", "threads", "mock", "spy"};

static struct {
    struct load load, later;
    struct mli_plan plan;
    const char *inside;
} at;

static void set_engine(const char *spec)
{
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(2, 2));
}

/* Chooses the engine fault, which runs the engine at.inside. Work item number `work` fails. */
static void set_failure(unsigned work, unsigned descriptor, unsigned row)
{
    char spec[128];

    snprintf(spec, sizeof(spec), "fault:%s,fail=%u,descriptor=%u,row=%u", at.inside, work,
             descriptor, row);
    set_engine(spec);
}

static int begin(void **state)
{
    memset(&at, 0, sizeof(at));
    at.inside = *(const char **)*state;
    spy_init();
    load_init_padded(&at.load, 1);
    load_init_rows(&at.later, 2, 50, 70, 3);
    set_engine("spy");
    load_claim(&at.load, 1);
    load_start(&at.load);
    assert_ok(mli_mov_wait(&at.load.h));
    memcpy(&at.plan, spy_plan(2), sizeof(at.plan));
    assert_ok(mli_mov_release_handle(&at.load.h));
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)mli_mov_release_handle(&at.load.h);
    (void)mli_mov_release_handle(&at.later.h);
    load_finish(&at.load);
    load_finish(&at.later);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void assert_stopped_at(uint32_t descriptor, uint64_t row, uint64_t bytes)
{
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(&at.load.h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_status(status.code, MLI_STATUS_DMA_ERROR);
    assert_int_equal(status.channel, 2);
    assert_int_equal(status.descriptor, descriptor);
    assert_int_equal(status.row, row);
    assert_int_equal(status.bytes, bytes);
    assert_int_equal(status.bytes_total, at.plan.bytes);
}

static void assert_counted(uint64_t completed, uint64_t bytes)
{
    mli_mov_channel_stats stats;

    assert_ok(mli_mov_get_channel_stats(2, &stats));
    assert_int_equal(stats.submitted, completed + 1);
    assert_int_equal(stats.completed, completed);
    assert_int_equal(stats.failed, 1);
    assert_int_equal(stats.cancelled, 0);
    assert_int_equal(stats.bytes, bytes);
    if (strcmp(at.inside, "mock") != 0) /* the mock engine counts descriptors in its ring */
        assert_int_equal(stats.queue_high_water, at.plan.slabs + 1);
}

/* Moves the whole transfer again: the handle still works. */
static void assert_works_again(uint64_t bytes)
{
    load_freshen(&at.load);
    spy_move(&at.plan, (uint32_t)at.plan.slabs + 1, 0);
    memcpy(at.load.expected, at.load.out, at.load.out_bytes);
    load_freshen(&at.load);
    load_start(&at.load);
    assert_ok(mli_mov_wait(&at.load.h));
    assert_ok(mli_mov_synchronise(&at.load.h));
    assert_int_equal(load_calls(1), 1);
    assert_memory_equal(at.load.out, at.load.expected, at.load.out_bytes);
    assert_counted(1, bytes + at.plan.bytes);
}

/* Makes a work item fail at a place, while another transfer runs on a second channel. */
static void fail_at(uint32_t descriptor, uint64_t row)
{
    uint64_t bytes;

    load_freshen(&at.load);
    load_freshen(&at.later);
    bytes = spy_move(&at.plan, descriptor, row);
    memcpy(at.load.expected, at.load.out, at.load.out_bytes);
    load_freshen(&at.load);
    set_failure(1, descriptor, (unsigned)row);
    load_claim(&at.load, 1);
    load_claim(&at.later, 1);
    load_start(&at.load);
    load_start(&at.later);
    assert_status(mli_mov_wait(&at.load.h), MLI_STATUS_DMA_ERROR);
    assert_true(mli_mov_isdone(&at.load.h));
    assert_ok(mli_mov_wait(&at.later.h));
    assert_ok(mli_mov_synchronise(&at.load.h));
    assert_int_equal(load_calls(1), 1);
    assert_stopped_at(descriptor, row, bytes);
    assert_memory_equal(at.load.out, at.load.expected, at.load.out_bytes);
    assert_true(load_is_moved(&at.later));
    assert_counted(0, bytes);
    assert_works_again(bytes);
    assert_ok(mli_mov_release_handle(&at.load.h));
    assert_ok(mli_mov_release_handle(&at.later.h));
}

static void test_every_place(void **state)
{
    (void)state;
    assert_int_equal(at.plan.slabs, 8);
    for (uint32_t d = 0; d <= at.plan.slabs; d++) {
        const uint64_t rows = spy_rows(&at.plan, d);

        fail_at(d, 0);
        fail_at(d, rows / 2);
        fail_at(d, rows - 1);
    }
}

/* A copy has three loops around its run. It fails in rows that are inside each of the loops. */
static void test_every_row_of_the_copy(void **state)
{
    (void)state;
    assert_int_equal(at.plan.box.loops, 3);
    for (uint64_t row = 0; row < spy_rows(&at.plan, 0); row++)
        fail_at(0, row);
}

/* A place after the end means the last place. */
static void test_places_after_the_end(void **state)
{
    (void)state;
    set_failure(1, 99, 99999);
    load_claim(&at.load, 1);
    load_start(&at.load);
    assert_status(mli_mov_wait(&at.load.h), MLI_STATUS_DMA_ERROR);
    assert_stopped_at(8, spy_rows(&at.plan, 8) - 1,
                      at.plan.bytes - at.plan.slab[at.plan.slabs - 1].run);
}

/*
 * A synchronous move on a channel fails like a started one, and does not change the tensor's
 * fields.
 */
static void test_synchronous_move(void **state)
{
    mli_tensor before;

    (void)state;
    load_freshen(&at.later);
    set_failure(2, 0, 7);
    memcpy(&before, &at.later.dst, sizeof(before));
    assert_ok(mli_mov_tensor_sync(&at.later.src, &at.later.cfg, &at.later.dst));
    assert_true(load_is_moved(&at.later));
    memcpy(&at.later.dst, &before, sizeof(before));
    assert_status(mli_mov_tensor_sync(&at.later.src, &at.later.cfg, &at.later.dst),
                  MLI_STATUS_DMA_ERROR);
    assert_memory_equal(&at.later.dst, &before, sizeof(before));
    assert_ok(mli_mov_tensor_sync(&at.later.src, &at.later.cfg, &at.later.dst));
    assert_true(load_is_moved(&at.later));
}

#define ON_ALL(name)                                                                               \
    {#name " (inline)", name, begin, end, &engines[0]},                                            \
        {#name " (threads)", name, begin, end, &engines[1]},                                       \
        {#name " (mock)", name, begin, end, &engines[2]},                                          \
        {#name " (spy)", name, begin, end, &engines[3]},

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ALL(test_every_place)           //
        ON_ALL(test_every_row_of_the_copy) //
        ON_ALL(test_places_after_the_end)  //
        ON_ALL(test_synchronous_move)      //
    };

    unit_add_ports();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
