/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the exact limits of one call of the scheduler: how many jobs it moves up, how many members
 * it passes over, and how many users it tries to backfill.
 */
#include "daemon/job/scheduler.h"

#include <stdlib.h>

#include "tests/support/unit.h"

enum { QUANTUM = 10000, AGEING = 1000, COUNT = 222 };

static struct scheduler scheduler;
static struct share shares[COUNT];
static struct lanes lanes[COUNT];
static struct queued jobs[COUNT];

/* Distributes the connections among `users` users, in turn. */
static void begin(int users)
{
    scheduler_init(&scheduler, QUANTUM, AGEING);
    for (int i = 0; i < COUNT; i++) {
        share_init(&shares[i]);
        lanes_init(&lanes[i], &shares[i % users]);
        queued_init(&jobs[i]);
    }
}

/* Queues a job of each connection at time 0, in the lowest class. */
static void push_all(int priority, uint64_t bytes)
{
    for (int i = 0; i < COUNT; i++)
        scheduler_push(&scheduler, &lanes[i], &jobs[i], priority, -1, bytes, 0);
}

static int count_of(int class, int priority)
{
    int count = 0;

    for (int i = 0; i < COUNT; i++)
        count += jobs[i].lane && jobs[i].class == class && jobs[i].priority == priority;
    return count;
}

/*
 * All connections belong to one user. One call moves 128 jobs up one priority, not more.
 */
static void test_one_call_moves_up_128_lanes(void **state)
{
    (void)state;
    begin(1);
    push_all(-1, 1);
    assert_non_null(scheduler_take(&scheduler, AGEING));
    /* one of the 128 moved on to class 1 and started */
    assert_int_equal(count_of(0, 1), SCHEDULER_AGED_MAX - 1);
    assert_int_equal(count_of(0, 0), COUNT - SCHEDULER_AGED_MAX);
    assert_int_equal(scheduler.length, COUNT - 1);
}

/* Jobs of the highest priority move up one class, 128 of them in a call. */
static void test_one_call_moves_up_128_users(void **state)
{
    (void)state;
    begin(COUNT);
    push_all(1, 1);
    assert_non_null(scheduler_take(&scheduler, AGEING));
    assert_int_equal(count_of(1, 2), SCHEDULER_AGED_MAX - 1);
    assert_int_equal(count_of(0, 2), COUNT - SCHEDULER_AGED_MAX);
}

/* A job that first moves up one priority and then one class counts twice toward the limit. */
static void test_both_kinds_of_ageing_share_the_limit(void **state)
{
    (void)state;
    begin(COUNT);
    push_all(-1, 1);
    assert_non_null(scheduler_take(&scheduler, AGEING));
    assert_int_equal(count_of(1, 1), SCHEDULER_AGED_MAX / 2 - 1);
    assert_int_equal(count_of(0, 0), COUNT - SCHEDULER_AGED_MAX / 2);
}

/* The second of three users uses up the limit, so the third user's job does not move up. */
static void test_no_user_moves_up_beyond_the_limit(void **state)
{
    (void)state;
    begin(3);
    push_all(-1, 1);
    assert_non_null(scheduler_take(&scheduler, AGEING));
    assert_int_equal(scheduler.lengths[1], 1); /* two moved up, and one started */
    assert_int_equal(scheduler.ageing_left, 0);
}

/* Takes a job in as many calls as that needs. Returns the number of calls. */
static int calls_of_take(uint64_t now)
{
    int calls = 1;

    while (!scheduler_take(&scheduler, now)) {
        assert_true(scheduler.undecided);
        calls++;
    }
    assert_false(scheduler.undecided);
    return calls;
}

/*
 * A call skips at most 64 members of rings. Each user counts twice: the user and the user's only
 * connection.
 */
static void test_a_call_passes_over_64_members(void **state)
{
    (void)state;
    begin(COUNT);
    push_all(0, 3 * QUANTUM);
    assert_int_equal(calls_of_take(0), 2 * COUNT / SCHEDULER_STEPS_MAX + 1);
    assert_int_not_equal(2 * COUNT / SCHEDULER_STEPS_MAX, 2 * COUNT / (SCHEDULER_STEPS_MAX - 1));
    assert_int_equal(scheduler.length, COUNT - 1);
}

/*
 * If it takes several calls to choose a user's next job, the user moves up only in the last call.
 */
static void test_an_undecided_user_does_not_move_up(void **state)
{
    (void)state;
    begin(1);
    push_all(1, 3 * QUANTUM);
    assert_null(scheduler_take(&scheduler, AGEING));
    assert_int_equal(count_of(0, 2), COUNT);
    assert_true(calls_of_take(AGEING) > 1);
}

static bool is_the_one(struct queued *queued, const void *context)
{
    return queued == context;
}

static void test_backfill_tries_16_users(void **state)
{
    (void)state;
    begin(COUNT);
    push_all(0, 1);
    assert_null(scheduler_backfill(&scheduler, is_the_one, &jobs[SCHEDULER_BACKFILL_USERS], 0));
    assert_ptr_equal(
        scheduler_backfill(&scheduler, is_the_one, &jobs[SCHEDULER_BACKFILL_USERS - 1], 0),
        &jobs[SCHEDULER_BACKFILL_USERS - 1]);
    assert_ptr_equal(scheduler_backfill(&scheduler, is_the_one, &jobs[0], 0), &jobs[0]);
}

/* Backfilling skips a user if choosing the user's next job takes more than one call. */
static void test_backfill_leaves_out_an_undecided_user(void **state)
{
    (void)state;
    begin(1);
    push_all(0, 3 * QUANTUM);
    assert_null(scheduler_backfill(&scheduler, is_the_one, &jobs[0], 0));
    assert_int_equal(scheduler.length, COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_call_moves_up_128_lanes),
        cmocka_unit_test(test_one_call_moves_up_128_users),
        cmocka_unit_test(test_both_kinds_of_ageing_share_the_limit),
        cmocka_unit_test(test_no_user_moves_up_beyond_the_limit),
        cmocka_unit_test(test_a_call_passes_over_64_members),
        cmocka_unit_test(test_an_undecided_user_does_not_move_up),
        cmocka_unit_test(test_backfill_tries_16_users),
        cmocka_unit_test(test_backfill_leaves_out_an_undecided_user),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
