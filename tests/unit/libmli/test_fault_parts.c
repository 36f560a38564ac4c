/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer over several channels of which some fail, in every order: the first error in the order
 * of the destination's rows is the transfer's, parts after it stop, parts before it continue.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/load.h"
#include "tests/support/rng.h"
#include "tests/support/spy.h"
#include "tests/support/unit.h"

enum { PARTS = 4, ROWS = 64, RUN = 100, FIRST = 3, ORDERS = 24, TRIALS = 300, RACES = 3000 };

static struct load load;

static void set_engine(const char *spec)
{
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(FIRST, PARTS));
}

static int begin(void **state)
{
    (void)state;
    spy_init();
    load_init_rows(&load, 1, ROWS, RUN, 28);
    return 0;
}

static int end(void **state)
{
    (void)state;
    spy_hold(0);
    for (uint32_t i = 0; i < PARTS; i++)
        spy_end(FIRST + i, MLI_STATUS_CANCELLED, 0, 0);
    (void)mli_mov_release_handle(&load.h);
    load_finish(&load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

/* How all parts ended, and the expected end of the transfer. */
struct outcome {
    mli_status status[PARTS];
    bool ended[PARTS];
    uint64_t bytes;
    uint32_t decisive; /* index of the part that decides the end; PARTS: none does */
};

/* Ends one part: as cancelled if an earlier part has failed. Each part fails in another row. */
static void end_part(struct outcome *out, uint32_t part, bool fails)
{
    const struct mli_plan *plan = spy_plan(FIRST + part);
    mli_status status = fails ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK;
    bool stopped = false;

    for (uint32_t i = 0; i < part; i++)
        stopped |= out->ended[i] && out->status[i] == MLI_STATUS_DMA_ERROR;
    assert_int_equal(spy_is_cancelled(FIRST + part), stopped);
    assert_int_equal(spy_cancels(FIRST + part) > 0, stopped);
    if (stopped)
        status = MLI_STATUS_CANCELLED;
    out->status[part] = status;
    out->ended[part] = true;
    out->bytes += status == MLI_STATUS_OK ? plan->bytes : (uint64_t)RUN * (part + 1);
    if (status == MLI_STATUS_DMA_ERROR && part < out->decisive)
        out->decisive = part;
    spy_end(FIRST + part, status, 0, part + 1);
}

static void assert_outcome(const struct outcome *out)
{
    const bool fails = out->decisive < PARTS;
    mli_mov_channel_stats stats;
    mli_mov_status_t status;

    assert_ok(mli_mov_get_status(&load.h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_status(status.code, fails ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK);
    assert_status(mli_mov_wait(&load.h), status.code);
    assert_int_equal(status.bytes, out->bytes);
    assert_int_equal(status.bytes_total, ROWS * RUN);
    if (fails) {
        assert_int_equal(status.channel, FIRST + out->decisive);
        assert_int_equal(status.row, out->decisive + 1);
    }
    assert_int_equal(load_calls(1), 1);
    for (uint32_t i = 0; i < PARTS; i++) {
        assert_ok(mli_mov_get_channel_stats(FIRST + (int)i, &stats));
        assert_int_equal(stats.submitted, 1);
        assert_int_equal(stats.completed, out->status[i] == MLI_STATUS_OK);
        assert_int_equal(stats.failed, out->status[i] == MLI_STATUS_DMA_ERROR);
        assert_int_equal(stats.cancelled, out->status[i] == MLI_STATUS_CANCELLED);
    }
}

/* Ends the parts in permutation `order`. The parts in the mask `failing` fail. */
static void run_case(uint32_t order, uint32_t failing)
{
    uint32_t left[PARTS] = {0, 1, 2, 3};
    struct outcome out = {.decisive = PARTS};

    set_engine("spy");
    spy_init();
    spy_hold(((1u << PARTS) - 1) << FIRST);
    load_freshen(&load);
    load_claim(&load, PARTS);
    load_start(&load);
    for (uint32_t n = PARTS; n > 0; n--) {
        const uint32_t pick = order % n, part = left[pick];

        order /= n;
        assert_true(spy_holds(FIRST + part));
        assert_false(mli_mov_isdone(&load.h));
        assert_int_equal(load_calls(1), 0);
        end_part(&out, part, failing >> part & 1);
        for (uint32_t i = pick; i + 1 < n; i++)
            left[i] = left[i + 1];
    }
    assert_outcome(&out);
    if (failing == 0)
        assert_true(load_is_moved(&load));
    assert_ok(mli_mov_release_handle(&load.h));
}

static void test_every_order_and_every_failure(void **state)
{
    (void)state;
    for (uint32_t order = 0; order < ORDERS; order++) {
        for (uint32_t failing = 0; failing < 1u << PARTS; failing++)
            run_case(order, failing);
    }
}

/*
 * If one part fails and another is cancelled, the transfer has the error, whatever their places in
 * the destination.
 */
static void test_error_counts_before_cancel(void **state)
{
    mli_mov_status_t status;

    (void)state;
    set_engine("spy");
    spy_hold(((1u << PARTS) - 1) << FIRST);
    load_claim(&load, PARTS);
    load_start(&load);
    assert_ok(mli_mov_cancel(&load.h));
    spy_end(FIRST, MLI_STATUS_CANCELLED, 0, 0);
    spy_end(FIRST + 1, MLI_STATUS_OK, 0, 0);
    spy_end(FIRST + 3, MLI_STATUS_DMA_ERROR, 0, 5);
    spy_end(FIRST + 2, MLI_STATUS_CANCELLED, 0, 0);
    assert_status(mli_mov_wait(&load.h), MLI_STATUS_DMA_ERROR);
    assert_ok(mli_mov_get_status(&load.h, &status));
    assert_int_equal(status.channel, FIRST + 3);
    assert_int_equal(status.row, 5);
}

/*
 * Parts of the inline engine are submitted one after another: the parts after the failed one never
 * begin.
 */
static void test_inline_parts_after_a_failure_do_not_begin(void **state)
{
    (void)state;
    for (uint32_t failing = 0; failing < PARTS; failing++) {
        const size_t rows = ROWS / PARTS, step = RUN + 28;
        char spec[64];

        snprintf(spec, sizeof(spec), "fault:inline,fail=%u,row=3", (unsigned)failing + 1);
        set_engine(spec);
        load_freshen(&load);
        memset(load.expected, LOAD_FRESH, load.out_bytes);
        for (size_t row = 0; row < failing * rows + 3; row++)
            memcpy(load.expected + row * step, load.in + row * RUN, RUN);
        load_claim(&load, PARTS);
        load_start(&load);
        assert_status(mli_mov_wait(&load.h), MLI_STATUS_DMA_ERROR);
        assert_memory_equal(load.out, load.expected, load.out_bytes);
        assert_int_equal(load_calls(1), 1);
        load_freshen(&load);
        load_start(&load);
        assert_ok(mli_mov_wait(&load.h));
        assert_true(load_is_moved(&load));
        assert_ok(mli_mov_release_handle(&load.h));
    }
}

/* Checks that the status of the transfer agrees with the statistics of its channels. */
static void assert_consistent(mli_status status)
{
    mli_mov_channel_stats stats;
    uint64_t failed = 0, ended = 0, bytes = 0;
    mli_mov_status_t reported;

    assert_ok(mli_mov_get_status(&load.h, &reported));
    for (uint32_t i = 0; i < PARTS; i++) {
        assert_ok(mli_mov_get_channel_stats(FIRST + (int)i, &stats));
        assert_int_equal(stats.submitted, 1);
        failed += stats.failed;
        ended += stats.completed + stats.failed + stats.cancelled;
        bytes += stats.bytes;
    }
    assert_int_equal(ended, PARTS);
    assert_int_equal(reported.bytes, bytes);
    assert_status(reported.code, status);
    assert_status(status, failed ? MLI_STATUS_DMA_ERROR : MLI_STATUS_OK);
    if (failed)
        assert_true(bytes < ROWS * RUN);
    else
        assert_true(load_is_moved(&load));
}

/* The result does not depend on the order in which the threads finish. */
static void test_threads(void **state)
{
    struct rng rng = rng_for_case(77, 0);

    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        const unsigned seed = rng_below(&rng, 1000000);
        char spec[128];

        snprintf(spec, sizeof(spec), "fault:threads,seed=%u,fail_pct=30,delay_us=%u,reorder_pct=50",
                 seed, (unsigned)(i % 3) * 50);
        set_engine(spec);
        load_freshen(&load);
        load_claim(&load, PARTS);
        load_start(&load);
        (void)mli_mov_wait(&load.h);
        assert_ok(mli_mov_synchronise(&load.h));
        assert_int_equal(load_calls(1), 1);
        assert_consistent(mli_mov_wait(&load.h));
        assert_ok(mli_mov_release_handle(&load.h));
    }
}

/* Checks that every started part has ended exactly once. */
static void assert_balanced(void)
{
    mli_mov_channel_stats s;

    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        assert_ok(mli_mov_get_channel_stats(i, &s));
        assert_int_equal(s.submitted, s.completed + s.failed + s.cancelled);
    }
}

/*
 * A part fails while the starting thread still submits later parts, some of which are stuck: each
 * of them must end once. The parts are small, so that these events overlap, and fail after their
 * first row, which the engine's thread moves.
 */
static void test_stuck_parts_are_stopped_while_they_start(void **state)
{
    struct load many;

    (void)state;
    load_init_rows(&many, 2, MLI_MOV_MAX_CHANNELS * 2, 64, 64);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine("fault:threads,fail_pct=30,row=1,stick_pct=40"));
    assert_ok(mli_mov_set_num_dma_ch(0, MLI_MOV_MAX_CHANNELS));
    load_claim(&many, MLI_MOV_MAX_CHANNELS);
    load_freshen(&many);
    for (uint32_t i = 1; i <= RACES; i++) {
        load_start(&many);
        for (int spin = 0; spin < 20 && !mli_mov_isdone(&many.h); spin++)
            sched_yield();
        assert_ok(mli_mov_cancel(&many.h)); /* ends stuck parts that no failed part stops */
        (void)mli_mov_wait(&many.h);
        assert_ok(mli_mov_synchronise(&many.h));
        assert_int_equal(load_calls(2), i);
        assert_balanced();
    }
    assert_ok(mli_mov_release_handle(&many.h));
    load_finish(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_order_and_every_failure, begin, end),
        cmocka_unit_test_setup_teardown(test_error_counts_before_cancel, begin, end),
        cmocka_unit_test_setup_teardown(test_inline_parts_after_a_failure_do_not_begin, begin, end),
        cmocka_unit_test_setup_teardown(test_threads, begin, end),
        cmocka_unit_test_setup_teardown(test_stuck_parts_are_stopped_while_they_start, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
