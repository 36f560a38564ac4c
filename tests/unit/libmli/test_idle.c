/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that no thread spins: measures the processor time that the process uses while channels are
 * idle, and while a thread waits for a slow transfer. A spinning thread would use about a second of
 * processor time in each second.
 */
#include <pthread.h>
#include <time.h>

#include "tests/support/load.h"
#include "tests/support/unit.h"

enum { LIMIT_NS = 5000000 };

static struct load load;

static int64_t process_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int end(void **state)
{
    (void)state;
    (void)mli_mov_cancel(&load.h);
    (void)mli_mov_synchronise(&load.h);
    (void)mli_mov_release_handle(&load.h);
    load_finish(&load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

/* Returns the processor time used in a second of sleep. */
static int64_t cost_of_a_second(void)
{
    const int64_t before = process_ns();

    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    return process_ns() - before;
}

static void set_engine(const char *spec)
{
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, MLI_MOV_MAX_CHANNELS));
    load_init_rows(&load, 1, 64, 64, 0);
    load_claim(&load, MLI_MOV_MAX_CHANNELS);
}

static void test_idle_channels(void **state)
{
    (void)state;
    set_engine("threads:tiny=0");
    load_start(&load); /* makes each channel work once */
    assert_ok(mli_mov_synchronise(&load.h));
    assert_in_range(cost_of_a_second(), 0, LIMIT_NS);
}

static void *wait_for_it(void *unused)
{
    (void)unused;
    return mli_mov_wait(&load.h) == MLI_STATUS_CANCELLED ? &load : NULL;
}

static void *synchronise_it(void *unused)
{
    (void)unused;
    return mli_mov_synchronise(&load.h) == MLI_STATUS_OK ? &load : NULL;
}

static void assert_sleeps(void *(*function)(void *))
{
    pthread_t thread;
    void *right;

    set_engine("fault:threads,stick_pct=100");
    load_start(&load);
    assert_int_equal(pthread_create(&thread, NULL, function, NULL), 0);
    assert_in_range(cost_of_a_second(), 0, LIMIT_NS);
    assert_ok(mli_mov_cancel(&load.h));
    assert_int_equal(pthread_join(thread, &right), 0);
    assert_non_null(right);
}

static void test_wait(void **state)
{
    (void)state;
    assert_sleeps(wait_for_it);
}

static void test_synchronise(void **state)
{
    (void)state;
    assert_sleeps(synchronise_it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_idle_channels, end),
        cmocka_unit_test_teardown(test_wait, end),
        cmocka_unit_test_teardown(test_synchronise, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
