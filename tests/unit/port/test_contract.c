/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the guarantees of the pool that mli_engine.h lists, with an engine that records its calls.
 */
#include "tests/support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "libmli/port/ports.h"
#include "mli_engine.h"
#include "tests/unit/port/moves.h"

enum { CHANNELS = 3, ROUNDS = 300 };

static struct {
    struct mli_work *work;
    uint32_t polls_left;
    _Atomic uint32_t submitting, polling;
} lanes[CHANNELS];

static _Atomic uint32_t overlaps, strange_channels, opened;
static uint64_t depth; /* value of the engine's option `depth` */

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static uint32_t witness_probe(void)
{
    return CHANNELS;
}

static void witness_caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_POLLED;
    caps->loops = MLI_MAX_RANK;
}

static bool witness_open(uint32_t channel)
{
    opened |= 1u << channel;
    return true;
}

static void witness_close(uint32_t channel)
{
    opened &= ~(1u << channel);
}

static void witness_submit(uint32_t channel, struct mli_work *work)
{
    strange_channels += channel >= CHANNELS || !(opened >> channel & 1);
    atomic_store(&lanes[channel].submitting, 1);
    lanes[channel].work = work;
    pause_us(100); /* waits, so that a poll could occur here, where it is forbidden */
    lanes[channel].polls_left = 2;
    atomic_store(&lanes[channel].submitting, 0);
}

static uint32_t witness_poll(uint32_t channel, uint32_t budget)
{
    struct mli_work *work = lanes[channel].work;

    (void)budget;
    overlaps += atomic_load(&lanes[channel].submitting);
    overlaps += atomic_exchange(&lanes[channel].polling, 1);
    if (work && lanes[channel].polls_left-- == 0) {
        lanes[channel].work = NULL;
        atomic_store(&lanes[channel].polling, 0);
        work->done(work, &(struct mli_work_end){.status = MLI_STATUS_OK});
        return 1;
    }
    atomic_store(&lanes[channel].polling, 0);
    return 0;
}

static void witness_stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    (void)stats;
    strange_channels += channel >= CHANNELS || !(opened >> channel & 1);
}

static bool witness_option(const char *key, size_t length, uint64_t value)
{
    if (length == 0)
        depth = 1;
    else if (length == 5 && memcmp(key, "depth", 5) == 0 && value < 10)
        depth = value;
    else
        return false;
    return true;
}

static const struct mli_engine witness = {
    .size = sizeof(struct mli_engine),
    .name = "witness",
    .probe = witness_probe,
    .caps = witness_caps,
    .submit = witness_submit,
    .open = witness_open,
    .close = witness_close,
    .poll = witness_poll,
    .stats = witness_stats,
    .option = witness_option,
};

static _Atomic bool stop;

static void *poll_all_the_time(void *context)
{
    const struct timespec pause = {.tv_nsec = 20000};

    (void)context;
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 100; i++)
            mli_mov_poll();
        nanosleep(&pause, NULL); /* a pause, because valgrind runs one thread until it waits */
    }
    return NULL;
}

static void test_submit_and_poll_do_not_meet(void **state)
{
    struct move m;
    mli_mov_handle_t h;
    pthread_t poller;

    (void)state;
    overlaps = 0;
    moves_engine("witness", CHANNELS);
    move_init_rows(&m, 8, 8);
    move_prepare(&m, 2, &h);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&poller, NULL, poll_all_the_time, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        assert_ok(mli_mov_start(&h, NULL, NULL, NULL));
        assert_ok(mli_mov_wait(&h));
    }
    atomic_store(&stop, true);
    pthread_join(poller, NULL);
    assert_ok(mli_mov_release_handle(&h));
    move_finish(&m);
    moves_engine_away();
    assert_int_equal(overlaps, 0);
    assert_int_equal(strange_channels, 0);
}

static _Atomic uint32_t restarts;
static mli_mov_handle_t chained;

static void start_again(int32_t rounds)
{
    if (++restarts < (uint32_t)rounds)
        (void)mli_mov_start(&chained, NULL, NULL, NULL);
}

static void test_submit_from_inside_done(void **state)
{
    struct move m;

    (void)state;
    overlaps = 0;
    moves_engine("witness", CHANNELS);
    move_init_rows(&m, 8, 8);
    move_prepare(&m, 1, &chained);
    restarts = 0;
    assert_ok(mli_mov_registercallback(&chained, start_again, 20));
    assert_ok(mli_mov_start(&chained, NULL, NULL, NULL));
    assert_ok(mli_mov_synchronise(&chained));
    assert_int_equal(restarts, 20);
    assert_ok(mli_mov_release_handle(&chained));
    move_finish(&m);
    moves_engine_away();
    assert_int_equal(overlaps, 0);
}

/* The pool reads statistics only of channels that are open. */
static void test_stats_of_open_channels_only(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    strange_channels = 0;
    moves_engine("witness", 1);
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++)
        assert_ok(mli_mov_get_channel_stats(i, &stats));
    moves_engine_away();
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(strange_channels, 0);
}

static void test_options_not_given_have_their_default(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("witness:depth=7"));
    assert_int_equal(depth, 7);
    assert_ok(mli_mov_set_engine("witness"));
    assert_int_equal(depth, 1);
    assert_ok(mli_mov_set_engine("fault:witness,depth=3"));
    assert_int_equal(depth, 3);
    assert_ok(mli_mov_set_engine("fault:witness"));
    assert_int_equal(depth, 1);
}

/* If a specification is refused, the options of the former specification still apply. */
static void test_refused_options_change_nothing(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("witness:depth=7"));
    assert_status(mli_mov_set_engine("witness:depth=3,depth=12"), MLI_STATUS_ARGUMENT_ERROR);
    assert_int_equal(depth, 7);
    assert_status(mli_mov_set_engine("witness:=3"), MLI_STATUS_ARGUMENT_ERROR);
    assert_int_equal(depth, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_submit_and_poll_do_not_meet),
        cmocka_unit_test(test_submit_from_inside_done),
        cmocka_unit_test(test_stats_of_open_channels_only),
        cmocka_unit_test(test_options_not_given_have_their_default),
        cmocka_unit_test(test_refused_options_change_nothing),
    };

    ports_add();
    if (mli_mov_add_engine(&witness) != MLI_STATUS_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
