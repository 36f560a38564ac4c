/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares schedules with schedules that were made by hand: predecessors, several channels, a
 * shared bus.
 */
#include "target/cost/schedule.h"

#include <time.h>

#include "tests/support/rng.h"
#include "tests/support/unit.h"

static struct schedule schedule;

static void place(profile_cost ready, uint32_t channels, profile_cost cost, profile_cost start,
                  uint32_t first_channel)
{
    const struct schedule_job job = {.cost = cost};
    const struct schedule_slot slot = schedule_place(&schedule, ready, channels, &job);

    assert_int_equal(slot.start, start);
    assert_int_equal(slot.end, start + cost);
    assert_int_equal(slot.first_channel, first_channel);
}

static void test_one_channel(void **state)
{
    (void)state;
    schedule_init(&schedule, 1);
    place(0, 1, 10, 0, 0);
    place(0, 1, 5, 10, 0);
    place(40, 1, 5, 40, 0);
    place(0, 4, 5, 45, 0); /* more channels than the schedule has */
    assert_int_equal(schedule.end, 50);
    assert_int_equal(schedule.sum, 25);
    assert_int_equal(schedule.busy[0], 25);
}

static void test_several_channels(void **state)
{
    (void)state;
    schedule_init(&schedule, 3);
    place(0, 1, 10, 0, 0);
    place(0, 1, 20, 0, 1);
    place(0, 1, 30, 0, 2);
    place(0, 1, 5, 10, 0);
    place(0, 2, 7, 20, 0); /* channels 0 and 1 are free at 15 and at 20 */
    place(28, 1, 1, 28, 0);
    place(0, 3, 1, 30, 0);
    assert_int_equal(schedule.end, 31);
    assert_int_equal(schedule.busy[0], 10 + 5 + 7 + 1 + 1);
    assert_int_equal(schedule.busy[2], 30 + 1);
}

static void test_times_stop_at_the_largest(void **state)
{
    (void)state;
    schedule_init(&schedule, 1);
    place(0, 1, UINT64_MAX - 1, 0, 0);
    assert_true(schedule_place(&schedule, 0, 1, &(struct schedule_job){.cost = 10}).end ==
                UINT64_MAX);
}

/* The times of the job, computed by hand; rounding up may add 1. */
static void share(profile_cost ready, profile_cost cost, profile_cost bus, profile_cost start,
                  profile_cost end)
{
    const struct schedule_job job = {cost, bus};
    const struct schedule_slot slot = schedule_place(&schedule, ready, 1, &job);

    assert_int_equal(slot.start, start);
    assert_in_range(slot.end, end, end + 1);
}

static void test_jobs_share_the_bus(void **state)
{
    (void)state;
    schedule_init(&schedule, 3);
    share(0, 1000, 500, 0, 1000); /* needs half of the bus */
    share(0, 1000, 500, 0, 1000); /* gets the other half of the bus */
    share(0, 1000, 1000, 0, 2000);
    share(0, 100, 0, 1000, 1100); /* without data */
    share(2010, 100, 50, 2010, 2110);
    share(2010, 100, 100, 2010, 2160); /* gets half of the bus until 2110, then all */
    assert_in_range(schedule.busy[2], 2000, 2001);
    schedule_finish(&schedule);
}

/* The bus never transfers more than its bandwidth, and only the bus slows a channel down. */
static void test_random_jobs_share_the_bus(void **state)
{
    enum { JOBS = 10000 };
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = rng_for_case(seed, 0);

    (void)state;
    for (uint32_t channels = 1; channels <= 16; channels += 5) {
        profile_cost bus = 0, ready = 0, end = 0;

        schedule_init(&schedule, channels);
        for (int i = 0; i < JOBS; i++) {
            struct schedule_job job = {.cost = 1 + rng_below(&rng, 1000000)};
            struct schedule_slot slot;

            job.bus = rng_below(&rng, job.cost + 1);
            if (rng_chance(&rng, 20))
                ready = end;
            slot = schedule_place(&schedule, ready, 1 + (uint32_t)rng_below(&rng, 2), &job);
            end = slot.end;
            bus += job.bus;
            if (slot.end < slot.start + job.cost ||
                (channels == 1 && slot.end != slot.start + job.cost))
                fail_msg("seed %llu, job %d", (unsigned long long)seed, i);
        }
        if ((double)schedule.end < (double)bus * (1 - 1e-9))
            fail_msg("seed %llu: %llu on %u channels, but %llu on the bus",
                     (unsigned long long)seed, (unsigned long long)schedule.end, channels,
                     (unsigned long long)bus);
        assert_true(schedule.end <= schedule.sum);
        assert_false(schedule.failed);
        schedule_finish(&schedule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_channel),
        cmocka_unit_test(test_several_channels),
        cmocka_unit_test(test_times_stop_at_the_largest),
        cmocka_unit_test(test_jobs_share_the_bus),
        cmocka_unit_test(test_random_jobs_share_the_bus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
