/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that mli_mov_synchronise() waits even for the transfers that callbacks start, which
 * mli_mov_wait() does not.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/slow_callback.h"
#include "tests/support/unit.h"

enum { CHAIN = 100, RACES = 2000 };

static struct {
    atomic_int calls;
    int longer; /* number of transfers that the callback still has to start */
    mli_status refused;
} at;

static int begin(void **state)
{
    (void)state;
    memset(&at, 0, sizeof(at));
    slow_init(10, 64, 2);
    return 0;
}

static void *synchronise_it(void *unused)
{
    const mli_status status = mli_mov_synchronise(&slow.load.h);

    (void)unused;
    return status == MLI_STATUS_OK && slow.returning ? &at : NULL;
}

static void test_waits_for_the_callback(void **state)
{
    pthread_t starter, waiter;
    void *started, *right;

    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, slow_callback, 0));
    assert_int_equal(pthread_create(&starter, NULL, slow_start, NULL), 0);
    slow_await(&slow.entered);
    assert_true(mli_mov_isdone(&slow.load.h));
    assert_int_equal(pthread_create(&waiter, NULL, synchronise_it, NULL), 0);
    slow_pause_ms(20); /* a mli_mov_synchronise() that does not wait would return now */
    atomic_store(&slow.leave, true);
    assert_int_equal(pthread_join(waiter, &right), 0);
    assert_int_equal(pthread_join(starter, &started), 0);
    assert_non_null(started);
    assert_non_null(right);
}

static void test_idle(void **state)
{
    mli_mov_handle_t h;

    (void)state;
    assert_ok(mli_mov_acquire_handle(1, &h));
    assert_ok(mli_mov_synchronise(&h)); /* no transfer was ever prepared */
    assert_ok(mli_mov_release_handle(&h));
    assert_ok(mli_mov_synchronise(&slow.load.h));
    load_start(&slow.load);
    assert_ok(mli_mov_synchronise(&slow.load.h));
    assert_int_equal(load_calls(1), 1);
    assert_ok(mli_mov_synchronise(&slow.load.h));
    assert_true(load_is_moved(&slow.load));
}

static void refuse_it(int32_t cookie)
{
    (void)cookie;
    at.refused = mli_mov_synchronise(&slow.load.h);
}

static void test_refused_in_a_callback(void **state)
{
    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, refuse_it, 0));
    load_start(&slow.load);
    assert_ok(mli_mov_synchronise(&slow.load.h));
    assert_status(at.refused, MLI_STATUS_ARGUMENT_ERROR);
}

static void start_next(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&at.calls, 1);
    if (at.longer-- > 0 &&
        (mli_mov_prepare(&slow.load.h, &slow.load.src, &slow.load.cfg, &slow.load.dst) != 0 ||
         mli_mov_start(&slow.load.h, NULL, NULL, NULL) != 0))
        atomic_store(&at.calls, -1000000);
}

/*
 * mli_mov_synchronise() waits for the transfers that callbacks start on its handle, until none of
 * them starts another.
 */
static void test_waits_for_transfers_of_callbacks(void **state)
{
    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, start_next, 0));
    for (int i = 0; i < 50; i++) {
        atomic_store(&at.calls, 0);
        at.longer = CHAIN;
        load_start(&slow.load);
        assert_ok(mli_mov_synchronise(&slow.load.h));
        assert_int_equal(atomic_load(&at.calls), CHAIN + 1);
    }
}

static void count(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&at.calls, 1);
}

/* No wake-up is lost: when mli_mov_synchronise() returns, the callback has always returned. */
static void test_races_with_the_callback(void **state)
{
    (void)state;
    assert_ok(mli_mov_registercallback(&slow.load.h, count, 0));
    for (int i = 1; i <= RACES; i++) {
        load_start(&slow.load);
        if (i % 3 == 0)
            assert_ok(mli_mov_wait(&slow.load.h));
        assert_ok(mli_mov_synchronise(&slow.load.h));
        assert_int_equal(atomic_load(&at.calls), i);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_waits_for_the_callback, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_idle, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_refused_in_a_callback, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_waits_for_transfers_of_callbacks, begin, slow_finish),
        cmocka_unit_test_setup_teardown(test_races_with_the_callback, begin, slow_finish),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
