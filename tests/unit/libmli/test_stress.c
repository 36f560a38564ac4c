/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads and thousands of handles of all widths, with all kinds of calls: wait, poll,
 * callback, cancel, release and a new claim. A successful transfer has moved every byte, each
 * transfer has one callback, and the statistics of the channels add up.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/rng.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

enum { THREADS = 8, CLAIMS = 1500, CHANNELS = 7, STARTS_MAX = 4, BYTES = 48, SEED = 20240229 };

static struct {
    atomic_uint wrong;  /* number of wrong statuses and data */
    atomic_uint starts; /* number of starts that were not refused */
    atomic_uint ok, cancelled, failed;
    atomic_uint calls; /* number of callbacks */
    bool may_fail;     /* true: transfers may fail even if nobody cancels them */
} seen;

static atomic_uint calls[THREADS]; /* indexed by the cookie; for the thread's current claim */

static void on_done(int32_t cookie)
{
    atomic_fetch_add(&calls[cookie], 1);
    atomic_fetch_add(&seen.calls, 1);
}

static void expect(bool right)
{
    if (!right)
        atomic_fetch_add(&seen.wrong, 1);
}

/* Waits for the transfer in a randomly chosen way. */
static mli_status await(mli_mov_handle_t *h, struct rng *rng)
{
    switch (rng_below(rng, 3)) {
    case 0:
        while (!mli_mov_isdone(h))
            sched_yield();
        break;
    case 1:
        expect(mli_mov_synchronise(h) == MLI_STATUS_OK);
        break;
    default:
        break;
    }
    return mli_mov_wait(h);
}

static void judge(mli_mov_handle_t *h, const struct tile *t, mli_status status, bool asked)
{
    mli_mov_status_t reported;

    expect(mli_mov_get_status(h, &reported) == MLI_STATUS_OK);
    expect(reported.stage == MLI_MOV_DONE && reported.code == status &&
           reported.bytes_total == BYTES);
    if (status == MLI_STATUS_OK) {
        expect(reported.bytes == BYTES && memcmp(t->out, t->in, BYTES) == 0);
        atomic_fetch_add(&seen.ok, 1);
    } else if (status == MLI_STATUS_CANCELLED) {
        expect(asked && reported.bytes <= BYTES);
        atomic_fetch_add(&seen.cancelled, 1);
    } else {
        expect(seen.may_fail && status == MLI_STATUS_DMA_ERROR && reported.bytes <= BYTES);
        atomic_fetch_add(&seen.failed, 1);
    }
    for (size_t i = BYTES; i < sizeof(t->out); i++)
        expect(t->out[i] == 0xA5);
}

static void one_transfer(mli_mov_handle_t *h, struct rng *rng)
{
    /* a stuck work item ends only by a cancel */
    const bool asked = seen.may_fail || rng_chance(rng, 20);
    mli_status status;
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    rng_fill(rng, t.in, BYTES);
    expect(tile_prepare(&t, h) == MLI_STATUS_OK);
    expect(mli_mov_start(h, NULL, NULL, NULL) == MLI_STATUS_OK);
    atomic_fetch_add(&seen.starts, 1);
    for (uint32_t spin = asked ? rng_below(rng, 20) : 0; spin > 0; spin--)
        sched_yield();
    if (asked)
        expect(mli_mov_cancel(h) == MLI_STATUS_OK);
    status = await(h, rng);
    judge(h, &t, status, asked);
    expect(mli_mov_synchronise(h) == MLI_STATUS_OK); /* the tile is on the stack */
}

/* Returns false if no run of channels was free. */
static bool one_claim(int32_t number, struct rng *rng)
{
    const int channels = (int)rng_between(rng, 1, 3);
    const uint32_t starts = rng_between(rng, 1, STARTS_MAX);
    mli_mov_handle_t h, copy;
    struct tile t;

    if (mli_mov_acquire_handle(channels, &h) != MLI_STATUS_OK) {
        tile_init(&t, MLI_EL_FX_16);
        if (!seen.may_fail) /* no other thread could cancel the transfer if it is stuck */
            expect(tile_sync(&t) == MLI_STATUS_OK);
        sched_yield();
        return false;
    }
    atomic_store(&calls[number], 0);
    expect(mli_mov_registercallback(&h, on_done, number) == MLI_STATUS_OK);
    for (uint32_t i = 0; i < starts; i++)
        one_transfer(&h, rng);
    expect(atomic_load(&calls[number]) == starts);
    memcpy(&copy, &h, sizeof(copy));
    expect(mli_mov_release_handle(&h) == MLI_STATUS_OK);
    expect(mli_mov_cancel(&copy) == MLI_STATUS_ARGUMENT_ERROR);
    expect(mli_mov_start(&copy, NULL, NULL, NULL) == MLI_STATUS_ARGUMENT_ERROR);
    expect(mli_mov_release_handle(&copy) == MLI_STATUS_ARGUMENT_ERROR);
    return true;
}

static void *work(void *argument)
{
    const int32_t number = *(int *)argument;
    struct rng rng = rng_for_case(SEED, (uint64_t)number);

    for (int claims = 0; claims < CLAIMS;)
        claims += one_claim(number, &rng);
    return NULL;
}

/* Synchronous moves on a device's channels also count in the statistics, but they have no callback.
 */
static void assert_adds_up(void)
{
    uint64_t ended = 0, submitted = 0;

    for (int i = 0; i < CHANNELS; i++) {
        mli_mov_channel_stats s;

        assert_ok(mli_mov_get_channel_stats(i, &s));
        assert_int_equal(s.submitted, s.completed + s.failed + s.cancelled);
        submitted += s.submitted;
        ended += s.completed + s.failed + s.cancelled;
    }
    assert_int_equal(submitted, ended);
    assert_true(submitted >= atomic_load(&seen.starts));
    assert_int_equal(atomic_load(&seen.calls), atomic_load(&seen.starts));
    assert_int_equal(atomic_load(&seen.ok) + atomic_load(&seen.cancelled) +
                         atomic_load(&seen.failed),
                     atomic_load(&seen.starts));
}

static void test_all_at_once(void **state)
{
    pthread_t threads[THREADS];
    int number[THREADS];

    (void)state;
    seen.may_fail = strcmp(mli_mov_engine_name(), "fault") == 0;
    assert_ok(mli_mov_set_num_dma_ch(0, CHANNELS));
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    print_message("seed %d: %u ok, %u cancelled, %u failed\n", SEED, atomic_load(&seen.ok),
                  atomic_load(&seen.cancelled), atomic_load(&seen.failed));
    assert_int_equal(atomic_load(&seen.wrong), 0);
    assert_adds_up();
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_at_once)};

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
