/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the asynchronous moves of the Python package from several threads, but without Python. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "python/core/flight.h"

static const char *why; /* reason of the latest refusal; not checked while several threads run */

enum { ROWS = 37, COLUMNS = 113, THREADS = 5, ROUNDS = 60, BATCH = 7 };

/* A transposed copy; the package may make it with several moves. */
struct copy {
    struct flight flight;
    struct nest nest;
    int taken; /* atomic: a thread has taken the flight from the list */
    uint8_t src[ROWS][COLUMNS], dst[COLUMNS][ROWS];
};

static void prepare(struct copy *copy, uint8_t seed)
{
    const struct axis axis[] = {{0, COLUMNS, 0, 1, ROWS}, {0, ROWS, 0, COLUMNS, 1}};

    for (size_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < COLUMNS; column++)
            copy->src[row][column] = (uint8_t)(row * 31 + column * 7 + seed);
    }
    memset(copy->dst, 0, sizeof(copy->dst));
    nest_fold(&copy->nest, copy->src[0], copy->dst[0], 1, axis, 2);
    if (seed % 3 == 0)
        copy->nest.longest[0] = 10; /* twelve moves, one after another */
    copy->taken = 0;
    copy->flight.nest = &copy->nest;
    copy->flight.channels = 1 + seed % 4;
    copy->flight.user = copy;
}

static bool is_complete(const struct copy *copy)
{
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < COLUMNS; column++) {
            if (copy->dst[column][row] != copy->src[row][column])
                return false;
        }
    }
    return true;
}

/*
 * Takes finished flights of any thread from the list, until *taken is set. Other threads also take
 * flights and set it.
 */
static void take_until(const int *taken)
{
    while (!__atomic_load_n(taken, __ATOMIC_ACQUIRE)) {
        const struct flight *flight = flight_take_done();

        if (flight)
            __atomic_store_n(&((struct copy *)flight->user)->taken, 1, __ATOMIC_RELEASE);
        else
            sched_yield();
    }
}

/* Starts more copies than there are channels, cancels some, and waits for all. */
static void *work(void *failures)
{
    struct copy *copies = calloc(BATCH, sizeof(*copies));
    unsigned seed = (unsigned)(uintptr_t)&failures;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BATCH; i++) {
            prepare(&copies[i], (uint8_t)(round * BATCH + i));
            if (flight_start(&copies[i].flight, &why) != MLI_STATUS_OK)
                __atomic_add_fetch((int *)failures, 1, __ATOMIC_SEQ_CST);
        }
        for (int i = 0; i < BATCH; i++) {
            struct flight *flight = &copies[i].flight;
            mli_status status;

            if (rand_r(&seed) % 8 == 0)
                flight_cancel(flight);
            if (!flight_wait(flight, 60) || flight_state(flight, &status) != FLIGHT_DONE ||
                !(status == MLI_STATUS_CANCELLED ||
                  (status == MLI_STATUS_OK && is_complete(&copies[i]))))
                __atomic_add_fetch((int *)failures, 1, __ATOMIC_SEQ_CST);
        }
        for (int i = 0; i < BATCH; i++)
            take_until(&copies[i].taken);
    }
    free(copies);
    return NULL;
}

static void test_threads(void **state)
{
    static const char *const engines[] = {"threads:tiny=0", "inline",
                                          "fault:threads,tiny=0,reorder_pct=50,delay_us=10"};

    (void)state;
    for (size_t e = 0; e < sizeof(engines) / sizeof(engines[0]); e++) {
        pthread_t threads[THREADS];
        int failures = 0;

        assert_int_equal(flight_configure(engines[e], 3, &why), MLI_STATUS_OK);
        assert_int_equal(flight_channels(), 3);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, work, &failures), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(failures, 0);
    }
}

static void test_queue(void **state)
{
    struct copy *copies = calloc(3, sizeof(*copies));
    mli_status status;

    (void)state;
    assert_int_equal(flight_configure("fault:threads,tiny=0,stick=1", 1, &why), MLI_STATUS_OK);
    for (int i = 0; i < 3; i++) {
        prepare(&copies[i], (uint8_t)(3 * i + 1));
        assert_int_equal(flight_start(&copies[i].flight, &why), MLI_STATUS_OK);
    }
    /* the first copy is stuck, so the others wait */
    assert_false(flight_wait(&copies[0].flight, 0.01));
    assert_int_equal(flight_state(&copies[1].flight, &status), FLIGHT_QUEUED);
    assert_int_not_equal(flight_configure("inline", 1, &why), MLI_STATUS_OK);
    assert_non_null(why);
    flight_cancel(&copies[1].flight);
    assert_int_equal(flight_state(&copies[1].flight, &status), FLIGHT_DONE);
    assert_int_equal(status, MLI_STATUS_CANCELLED);
    flight_cancel(&copies[0].flight);
    assert_true(flight_wait(&copies[2].flight, 60));
    flight_state(&copies[2].flight, &status);
    assert_int_equal(status, MLI_STATUS_OK);
    assert_true(is_complete(&copies[2]));
    for (int i = 0; i < 3; i++)
        take_until(&copies[i].taken);
    free(copies);
}

/* The last test: nothing starts after it. */
static void test_shutdown(void **state)
{
    struct copy *copies = calloc(4, sizeof(*copies));

    (void)state;
    assert_int_equal(flight_configure("fault:threads,tiny=0,stick=1", 2, &why), MLI_STATUS_OK);
    for (int i = 0; i < 4; i++) {
        prepare(&copies[i], (uint8_t)(3 * i + 1));
        copies[i].flight.channels = 1;
        assert_int_equal(flight_start(&copies[i].flight, &why), MLI_STATUS_OK);
    }
    flight_shutdown();
    for (int i = 0; i < 4; i++) {
        mli_status status;

        assert_int_equal(flight_state(&copies[i].flight, &status), FLIGHT_DONE);
        take_until(&copies[i].taken);
    }
    assert_int_not_equal(flight_start(&copies[0].flight, &why), MLI_STATUS_OK);
    free(copies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_queue),
                                       cmocka_unit_test(test_shutdown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
