/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares schedules with those made by hand: predecessors, jobs that need several channels. */
#include "target/cost/schedule.h"
#include "tests/support/unit.h"

static struct schedule schedule;

static void place(profile_cost ready, uint32_t channels, profile_cost cost, profile_cost start,
                  uint32_t first_channel)
{
    const struct schedule_slot slot = schedule_place(&schedule, ready, channels, cost);

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
    place(0, 2, 7, 20, 0); /* channels 0 and 1: free at 15 and at 20 */
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
    assert_true(schedule_place(&schedule, 0, 1, 10).end == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_channel),
        cmocka_unit_test(test_several_channels),
        cmocka_unit_test(test_times_stop_at_the_largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
