/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelled transfers: before, while and after they run, from any thread. The program's argument is
 * the engine inside the fault engine; work items that fault makes stuck end only by a cancel.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/load.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"

enum { RACES = 10000, LARGE = 64 << 20 };

static const char *inside;
static struct load load, second;

static void use(const char *fault, int channels)
{
    char spec[128];

    snprintf(spec, sizeof(spec), "fault:%s%s", inside, fault);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, channels));
}

static int begin(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 64, 100, 28);
    load_init_rows(&second, 2, 32, 50, 3);
    return 0;
}

static int end(void **state)
{
    (void)state;
    (void)mli_mov_cancel(&load.h);
    (void)mli_mov_synchronise(&load.h);
    (void)mli_mov_release_handle(&load.h);
    (void)mli_mov_cancel(&second.h);
    (void)mli_mov_synchronise(&second.h);
    (void)mli_mov_release_handle(&second.h);
    load_finish(&load);
    load_finish(&second);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void assert_cancelled(struct load *l)
{
    mli_mov_status_t status;

    assert_status(mli_mov_wait(&l->h), MLI_STATUS_CANCELLED);
    assert_true(mli_mov_isdone(&l->h));
    assert_ok(mli_mov_synchronise(&l->h));
    assert_int_equal(load_calls(l->cookie), 1);
    assert_ok(mli_mov_get_status(&l->h, &status));
    assert_int_equal(status.stage, MLI_MOV_DONE);
    assert_status(status.code, MLI_STATUS_CANCELLED);
    assert_true(status.bytes < status.bytes_total);
}

static void assert_works_again(struct load *l)
{
    load_freshen(l);
    load_start(l);
    assert_ok(mli_mov_wait(&l->h));
    assert_ok(mli_mov_synchronise(&l->h));
    assert_int_equal(load_calls(l->cookie), 1);
    assert_true(load_is_moved(l));
}

/*
 * A window of padding only has fills and no copy. After a cancel, the reported place is in a fill,
 * but inside the tensor.
 */
static void test_place_in_padding(void **state)
{
    static int8_t in[20 * 40], out[20 * 40];
    mli_tensor src = {.data = {.capacity = sizeof(in), .mem.pi8 = in},
                      .shape = {20, 40},
                      .rank = 2,
                      .el_type = MLI_EL_FX_8};
    mli_tensor dst = {.data = {.capacity = sizeof(out), .mem.pi8 = out}};
    mli_mov_status_t status;
    mli_mov_handle_t h;
    mli_mov_cfg_t cfg;

    (void)state;
    use(",stick_pct=100", 4);
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    cfg.padding_pre[0] = 255;
    cfg.size[0] = 20;
    for (int channels = 1; channels <= 4; channels++) {
        memset(dst.mem_stride, 0, sizeof(dst.mem_stride));
        assert_ok(mli_mov_acquire_handle(channels, &h));
        assert_ok(mli_mov_prepare(&h, &src, &cfg, &dst));
        assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
        assert_ok(mli_mov_cancel(&h));
        assert_status(mli_mov_wait(&h), MLI_STATUS_CANCELLED);
        assert_ok(mli_mov_get_status(&h, &status));
        assert_int_equal(status.descriptor, 1);
        assert_ptr_equal(status.address, out);
        assert_ok(mli_mov_release_handle(&h));
    }
}

/* A cancel also ends a delayed work item. */
static void test_delayed_for_an_hour(void **state)
{
    (void)state;
    if (strcmp(inside, "inline") == 0)
        skip(); /* with this engine mli_mov_start() itself waits for the delay, and no other thread
                   can cancel */
    use(",delay_us=3600000000", 1);
    load_claim(&load, 1);
    load_start(&load);
    assert_ok(mli_mov_cancel(&load.h));
    (void)mli_mov_wait(&load.h); /* the move was cancelled, or was done before the cancel */
    assert_true(mli_mov_isdone(&load.h));
}

static void test_stuck(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    use(",stick=1", 1);
    load_claim(&load, 1);
    load_start(&load);
    assert_false(mli_mov_isdone(&load.h));
    assert_ok(mli_mov_cancel(&load.h));
    assert_cancelled(&load);
    assert_ok(mli_mov_cancel(&load.h)); /* the second call has no effect */
    assert_int_equal(load_calls(1), 1);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.cancelled, 1);
    assert_int_equal(stats.completed + stats.failed, 0);
    assert_works_again(&load);
}

static void test_after_the_end(void **state)
{
    (void)state;
    use("", 1);
    load_claim(&load, 1);
    load_start(&load);
    assert_ok(mli_mov_wait(&load.h));
    assert_ok(mli_mov_cancel(&load.h));
    assert_ok(mli_mov_wait(&load.h));
    assert_ok(mli_mov_synchronise(&load.h));
    assert_true(load_is_moved(&load));
    assert_works_again(&load); /* the cancel applied only to the previous transfer of the handle */
    assert_ok(mli_mov_prepare(&load.h, &load.src, &load.cfg, &load.dst));
    assert_status(mli_mov_cancel(&load.h), MLI_STATUS_ARGUMENT_ERROR);
}

static void test_several_channels(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    use(",stick_pct=100", 4);
    load_claim(&load, 4);
    load_start(&load);
    assert_false(mli_mov_isdone(&load.h));
    assert_ok(mli_mov_cancel(&load.h));
    assert_cancelled(&load);
    for (int i = 0; i < 4; i++) {
        assert_ok(mli_mov_get_channel_stats(i, &stats));
        assert_int_equal(stats.submitted, 1);
        assert_int_equal(stats.cancelled, 1);
    }
}

/* Three parts are done, and one part is stuck. */
static void test_one_of_several_channels(void **state)
{
    (void)state;
    use(",stick=3", 4);
    load_claim(&load, 4);
    load_start(&load);
    assert_false(mli_mov_isdone(&load.h));
    assert_ok(mli_mov_cancel(&load.h));
    assert_cancelled(&load);
    assert_works_again(&load);
}

/* Transfers on other handles are not affected. */
static void test_neighbours(void **state)
{
    (void)state;
    use(",stick_pct=100", 2);
    load_claim(&load, 1);
    load_claim(&second, 1);
    load_start(&load);
    load_start(&second);
    assert_ok(mli_mov_cancel(&second.h));
    assert_cancelled(&second);
    assert_false(mli_mov_isdone(&load.h));
    assert_int_equal(load_calls(1), 0);
    assert_ok(mli_mov_cancel(&load.h));
    assert_cancelled(&load);
}

static void *wait_for_it(void *result)
{
    *(mli_status *)result = mli_mov_wait(&load.h);
    return NULL;
}

/* A waiting thread wakes up, whether or not it already sleeps when the cancel comes. */
static void test_cancel_while_another_thread_waits(void **state)
{
    (void)state;
    use(",stick_pct=100", 2);
    load_claim(&load, 2);
    for (int i = 0; i < 300; i++) {
        mli_status waited = MLI_STATUS_LARGE_ENUM;
        pthread_t thread;

        load_freshen(&load);
        load_start(&load);
        assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &waited), 0);
        for (int spin = i % 50; spin > 0; spin--)
            sched_yield();
        assert_ok(mli_mov_cancel(&load.h));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_status(waited, MLI_STATUS_CANCELLED);
        assert_cancelled(&load);
    }
}

static mli_status in_callback;

static void cancel_second(int32_t cookie)
{
    (void)cookie;
    in_callback = mli_mov_cancel(&second.h);
}

static void test_in_a_callback_of_another_handle(void **state)
{
    (void)state;
    use(",stick=1", 2);
    load_claim(&load, 1);
    load_claim(&second, 1);
    assert_ok(mli_mov_registercallback(&load.h, cancel_second, 0));
    load_start(&second);
    in_callback = MLI_STATUS_LARGE_ENUM;
    load_start(&load);
    assert_ok(mli_mov_wait(&load.h));
    assert_ok(mli_mov_synchronise(&load.h));
    assert_ok(in_callback);
    assert_cancelled(&second);
}

static _Atomic bool second_started;

static void start_second(int32_t cookie)
{
    (void)cookie;
    assert_ok(mli_mov_release_handle(&load.h));
    load_claim(&second, 1);
    load_start(&second);
    atomic_store(&second_started, true);
}

/* Starts `load`; the callback of its transfer releases the channel and starts `second` on it. */
static void start_both(void)
{
    load_freshen(&second);
    load_claim(&load, 1);
    assert_ok(mli_mov_registercallback(&load.h, start_second, 0));
    atomic_store(&second_started, false);
    load_start(&load);
}

static void assert_second_completes(void)
{
    while (!atomic_load(&second_started)) {
        (void)mli_mov_poll();
        sched_yield();
    }
    assert_ok(mli_mov_wait(&second.h));
    assert_ok(mli_mov_synchronise(&second.h));
    assert_true(load_is_moved(&second));
    assert_ok(mli_mov_release_handle(&second.h));
}

/* A callback inside mli_mov_cancel() gives the channel to another owner, who is not cancelled. */
static void test_the_next_owner(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        use(",stick=1,delay_us=2000", 1); /* counts work items from 1 again */
        start_both();
        assert_ok(mli_mov_cancel(&load.h));
        assert_second_completes();
    }
}

/* Cancels transfers of one owner while a callback gives the channel to another owner. */
static void test_the_next_owner_in_a_race(void **state)
{
    (void)state;
    use(",delay_us=5", 1);
    for (int i = 0; i < RACES / 10; i++) {
        mli_mov_handle_t copy;

        start_both();
        copy = load.h; /* the callback releases the handle while this thread cancels */
        for (int spin = i % 50; spin > 0; spin--)
            sched_yield();
        (void)mli_mov_cancel(&copy);
        assert_second_completes();
    }
}

/* Cancels a transfer that is much longer than the cancel takes. */
static void test_large(void **state)
{
    mli_mov_status_t status;
    struct load large;

    (void)state;
    load_init_flat(&large, 3, LARGE);
    for (int channels = 1; channels <= 4; channels *= 4) {
        use("", channels);
        load_freshen(&large);
        load_claim(&large, channels);
        load_start(&large);
        assert_ok(mli_mov_cancel(&large.h));
        /* with the inline engine, start has already moved everything */
        if (mli_mov_wait(&large.h) == MLI_STATUS_OK)
            assert_true(load_is_moved(&large));
        else
            assert_cancelled(&large);
        assert_ok(mli_mov_get_status(&large.h, &status));
        assert_int_equal(status.code != MLI_STATUS_OK, status.bytes < LARGE);
        assert_ok(mli_mov_release_handle(&large.h));
    }
    load_finish(&large);
}

/*
 * All bytes that a cancelled transfer reports as written are written, even if its work item was
 * delayed.
 */
static void test_races_with_the_end(void **state)
{
    static const char *const settings[] = {"", ",delay_us=30,delay_pct=50", ",reorder_pct=100",
                                           ",stick_pct=30"};
    const int rounds = (int)(scaled(RACES) / COUNT_OF(settings));
    struct rng rng = rng_for_case(4711, 0);
    int done = 0;

    (void)state;
    for (size_t s = 0; s < COUNT_OF(settings); s++) {
        use(settings[s], 2);
        load_claim(&load, 2);
        for (int i = 0; i < rounds; i++) {
            mli_status status;

            load_freshen(&load);
            load_start(&load);
            for (uint32_t spin = rng_below(&rng, 4000); spin > 0; spin--)
                (void)mli_mov_isdone(&load.h);
            assert_ok(mli_mov_cancel(&load.h));
            status = mli_mov_wait(&load.h);
            assert_ok(mli_mov_synchronise(&load.h));
            assert_int_equal(load_calls(1), 1);
            assert_true(status == MLI_STATUS_OK || status == MLI_STATUS_CANCELLED);
            if (status == MLI_STATUS_OK)
                assert_true(load_is_moved(&load));
            done += status == MLI_STATUS_OK;
        }
        assert_ok(mli_mov_release_handle(&load.h));
    }
    print_message("%d of %d were done\n", done, rounds * (int)COUNT_OF(settings));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_place_in_padding, begin, end),
        cmocka_unit_test_setup_teardown(test_delayed_for_an_hour, begin, end),
        cmocka_unit_test_setup_teardown(test_stuck, begin, end),
        cmocka_unit_test_setup_teardown(test_after_the_end, begin, end),
        cmocka_unit_test_setup_teardown(test_several_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_one_of_several_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_neighbours, begin, end),
        cmocka_unit_test_setup_teardown(test_cancel_while_another_thread_waits, begin, end),
        cmocka_unit_test_setup_teardown(test_in_a_callback_of_another_handle, begin, end),
        cmocka_unit_test_setup_teardown(test_the_next_owner, begin, end),
        cmocka_unit_test_setup_teardown(test_the_next_owner_in_a_race, begin, end),
        cmocka_unit_test_setup_teardown(test_large, begin, end),
        cmocka_unit_test_setup_teardown(test_races_with_the_end, begin, end),
    };

    unit_add_ports();
    inside = argc > 1 ? argv[1] : "threads";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
