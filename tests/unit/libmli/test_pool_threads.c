/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads use one pool. Handles are opaque, so the test finds double ownership by counting:
 * there are never more claimed channels than channels, and no thread may disturb the transfer of
 * another handle.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

enum { THREADS = 8, CLAIMS = 20000, CHANNELS = 5 };

static struct {
    atomic_int held;     /* lower bound of the number of channels that threads own at present */
    atomic_int too_many; /* number of times that `held` exceeded the size of the pool */
    atomic_int failures; /* number of wrong statuses or data */
    atomic_int fired;    /* number of callbacks */
} seen;

static void on_done(int32_t cookie)
{
    (void)cookie;
    atomic_fetch_add(&seen.fired, 1);
}

static void expect(bool right)
{
    if (!right)
        atomic_fetch_add(&seen.failures, 1);
}

static void use_handle(mli_mov_handle_t *h, struct rng *rng)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    rng_fill(rng, t.in, 48);
    expect(tile_prepare(&t, h) == MLI_STATUS_OK);
    expect(mli_mov_registercallback(h, on_done, 1) == MLI_STATUS_OK);
    expect(mli_mov_start(h, NULL, NULL, NULL) == MLI_STATUS_OK);
    expect(mli_mov_wait(h) == MLI_STATUS_OK);
    expect(memcmp(t.out, t.in, 48) == 0);
}

/* Makes and releases one claim. Returns false if no run of channels was free. */
static bool one_claim(struct rng *rng)
{
    int wanted = (int)rng_between(rng, 1, 3);
    mli_mov_handle_t h, copy;
    mli_status got = mli_mov_acquire_handle(wanted, &h);

    if (got != MLI_STATUS_OK) {
        expect(got == MLI_STATUS_NOT_ENGH_MEM);
        sched_yield();
        return false;
    }
    if (atomic_fetch_add(&seen.held, wanted) + wanted > CHANNELS)
        atomic_fetch_add(&seen.too_many, 1);
    use_handle(&h, rng);
    memcpy(&copy, &h, sizeof(copy));
    if (rng_chance(rng, 20))
        sched_yield();
    atomic_fetch_sub(&seen.held, wanted);
    expect(mli_mov_release_handle(&h) == MLI_STATUS_OK);
    /* The channels may belong to another thread now: the stale copy must not free them. */
    expect(mli_mov_release_handle(&copy) == MLI_STATUS_ARGUMENT_ERROR);
    expect(mli_mov_start(&copy, NULL, NULL, NULL) == MLI_STATUS_ARGUMENT_ERROR);
    return true;
}

static void *work(void *argument)
{
    struct rng rng = rng_for_case(2024, *(int *)argument);
    const int wanted = (int)scaled(CLAIMS);

    for (int claims = 0, i = 0; claims < wanted; i++) {
        claims += one_claim(&rng);
        if (i % 64 == 0) { /* refused while other threads own channels */
            mli_status got = mli_mov_set_num_dma_ch(3, CHANNELS);

            expect(got == MLI_STATUS_OK || got == MLI_STATUS_ARGUMENT_ERROR);
        }
    }
    return NULL;
}

static void test_no_channel_has_two_owners(void **state)
{
    pthread_t threads[THREADS];
    int number[THREADS];
    mli_mov_handle_t all;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(3, CHANNELS));
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&seen.too_many), 0);
    assert_int_equal(atomic_load(&seen.failures), 0);
    /* works because all channels were released */
    assert_ok(mli_mov_acquire_handle(CHANNELS, &all));
    assert_ok(mli_mov_release_handle(&all));
    assert_ok(mli_mov_set_num_dma_ch(0, 0)); /* also ends the threads that call back */
    assert_int_equal(atomic_load(&seen.fired), THREADS * (int)scaled(CLAIMS));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_channel_has_two_owners)};

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
