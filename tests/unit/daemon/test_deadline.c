/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the heap of deadlines: its order, and its cost with many deadlines. */
#include "daemon/job/jobs.h"

#include <stdlib.h>

#include "daemon/base/seam.h"
#include "tests/support/unit.h"
#include "tests/unit/daemon/costs.h"

enum { FEW = 64, MANY = 16384, CALLS = 2000 };

static uv_loop_t loop;
static struct deadlines deadlines;
static struct task *tasks;

/* Never called, because all deadlines are far away. */
static void on_passed(uv_timer_t *timer)
{
    (void)timer;
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(uv_loop_init(&loop), 0);
    deadlines_init(&deadlines, &loop, on_passed);
    tasks = calloc(MANY, sizeof *tasks);
    assert_non_null(tasks);
    assert_int_equal(deadlines_reserve(&deadlines, 1), 0);
    for (uint32_t i = 1; i <= MANY; i++) /* memory of the heap grows with the number of jobs */
        assert_int_equal(deadlines_reserve(&deadlines, i), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < MANY; i++)
        deadline_remove(&deadlines, &tasks[i]);
    assert_true(deadlines.armed == UINT64_MAX);
    deadlines_close(&deadlines);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    free(tasks);
    return 0;
}

static uint64_t random_number(void)
{
    static uint64_t number = 1;

    number = number * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return number >> 32;
}

/* All deadlines are in an hour or later, so the timer never fires. */
static void add(int i, uint64_t ns)
{
    tasks[i].deadline = uv_hrtime() + UINT64_C(3600000000000) + ns;
    deadline_add(&deadlines, &tasks[i]);
}

static void test_next_deadline_is_first(void **state)
{
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < 3000; i++)
        add(i, random_number());
    for (int i = 0; i < 3000; i += 3)
        deadline_remove(&deadlines, &tasks[i]);
    deadline_remove(&deadlines, &tasks[0]); /* twice */
    assert_int_equal(deadlines.count, 2000);
    while (deadlines.count > 0) {
        struct task *first = deadlines.heap[0];

        assert_true((first - tasks) % 3 != 0);
        assert_true(first->deadline >= before);
        assert_true(deadlines.armed <= first->deadline);
        before = first->deadline;
        deadline_remove(&deadlines, first);
    }
}

static void test_no_deadline(void **state)
{
    (void)state;
    deadline_add(&deadlines, &tasks[0]);
    assert_int_equal(deadlines.count, 0);
    deadline_remove(&deadlines, &tasks[0]);
}

static void *no_memory(void *block, size_t size)
{
    (void)block;
    (void)size;
    return NULL;
}

static void test_no_memory(void **state)
{
    (void)state;
    seam.realloc = no_memory;
    assert_int_equal(deadlines_reserve(&deadlines, MANY), 0);
    assert_int_equal(deadlines_reserve(&deadlines, MANY + 1), -1);
    seam.realloc = realloc;
    add(0, 0);
    assert_int_equal(deadlines.count, 1);
}

/* Each new deadline is earlier than all others, and each time the oldest job ends. */
static void turn_over(void *context)
{
    static uint64_t earlier = UINT64_C(1) << 40;
    const int count = *(const int *)context;

    for (int i = 0; i < CALLS; i++) {
        deadline_remove(&deadlines, &tasks[i % count]);
        add(i % count, earlier -= 1000000);
    }
}

static double cost_among(int count)
{
    for (int i = 0; i < count; i++)
        add(i, UINT64_C(1) << 41);
    return cost_of(turn_over, &count);
}

static void test_cost_of_many_deadlines(void **state)
{
    double few, many;

    (void)state;
    few = cost_among(FEW);
    for (int i = 0; i < FEW; i++)
        deadline_remove(&deadlines, &tasks[i]);
    many = cost_among(MANY);
    print_message("a deadline among %d costs %.1f times as much as among %d\n", MANY, many / few,
                  FEW);
    assert_true(many < few * COST_RATIO_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_next_deadline_is_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cost_of_many_deadlines, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
