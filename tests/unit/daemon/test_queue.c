/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"
#include "task.h"
#include "unit.h"

static struct task make(int32_t priority)
{
    struct task task = {.job.priority = priority};

    return task;
}

static void test_order(void **state)
{
    struct queue queue;
    struct task low = make(-1), first = make(0), second = make(0), high = make(1);
    struct task *const order[] = {&high, &first, &second, &low};

    (void)state;
    queue_init(&queue);
    assert_null(queue_head(&queue));
    queue_push(&queue, &low);
    queue_push(&queue, &first);
    queue_push(&queue, &second);
    queue_push(&queue, &high);
    assert_int_equal(queue.length, 4);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        assert_ptr_equal(queue_head(&queue), order[i]);
        assert_ptr_equal(queue_head(&queue), order[i]); /* looking does not take */
        queue_remove(&queue, order[i]);
    }
    assert_null(queue_head(&queue));
    assert_int_equal(queue.length, 0);
}

static void test_removal_from_the_middle(void **state)
{
    struct queue queue;
    struct task a = make(0), b = make(0), c = make(0);

    (void)state;
    queue_init(&queue);
    queue_push(&queue, &a);
    queue_push(&queue, &b);
    queue_push(&queue, &c);
    queue_remove(&queue, &b);
    assert_ptr_equal(queue_head(&queue), &a);
    queue_remove(&queue, &a);
    assert_ptr_equal(queue_head(&queue), &c);
    queue_push(&queue, &a);
    assert_ptr_equal(queue_head(&queue), &c);
    assert_int_equal(queue.length, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_removal_from_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
