/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/deadline.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "daemon/base/seam.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/jobs.h"
#include "daemon/job/task.h"

enum { NS_PER_MS = 1000 * 1000, CAPACITY_MIN = 64 };

static void on_timer(uv_timer_t *timer);

static void put(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    deadlines->heap[at] = task;
    task->deadline_place = at + 1;
}

/* Moves a task from `at` towards the root, past all later deadlines. */
static void rise(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    while (at > 0) {
        const uint32_t parent = (at - 1) / 2;

        if (deadlines->heap[parent]->deadline <= task->deadline)
            break;
        put(deadlines, at, deadlines->heap[parent]);
        at = parent;
    }
    put(deadlines, at, task);
}

/* Moves a task from `at` towards the leaves, past all earlier deadlines. */
static void sink(struct deadlines *deadlines, uint32_t at, struct task *task)
{
    struct task **heap = deadlines->heap;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < deadlines->count && heap[child + 1]->deadline < heap[child]->deadline)
            child++;
        if (child >= deadlines->count || task->deadline <= heap[child]->deadline)
            break;
        put(deadlines, at, heap[child]);
        at = child;
    }
    put(deadlines, at, task);
}

/* Sets the timer to the first deadline. */
static void arm(struct deadlines *deadlines)
{
    const uint64_t first = deadlines->count > 0 ? deadlines->heap[0]->deadline : UINT64_MAX;
    const uint64_t now = uv_hrtime();

    deadlines->armed = first;
    if (first == UINT64_MAX) {
        uv_timer_stop(&deadlines->timer);
        return;
    }
    uv_update_time(
        deadlines->timer.loop); /* the timer counts from the loop's time, which may be old */
    uv_timer_start(&deadlines->timer, on_timer,
                   first > now ? (first - now + NS_PER_MS - 1) / NS_PER_MS : 0, 0);
}

/* Ends the task. A running task is destroyed when its transfer has stopped. */
static void expire(struct task *task)
{
    struct fault fault;

    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: the job was not done within %" PRIu32 " ms, it was %s", task->timeout_ms,
              task->state == JOB_STATE_RUNNING  ? "running"
              : task->state == JOB_STATE_QUEUED ? "still queued"
                                                : "still waiting for other jobs");
    task_abort(task, &fault);
}

static void on_timer(uv_timer_t *timer)
{
    struct deadlines *deadlines = timer->data;
    struct jobs *jobs = LINK_OWNER(deadlines, struct jobs, deadlines);
    const uint64_t now = uv_hrtime();

    /* Tasks left after CHORE_TURN_NS are ended after the loop's other work. */
    while (deadlines->count > 0 && deadlines->heap[0]->deadline <= now &&
           uv_hrtime() - now < CHORE_TURN_NS)
        expire(deadlines->heap[0]); /* expire() removes the task from the heap */
    arm(deadlines);
    dispatch_run(jobs); /* an expired task may have held up the queue */
}

void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop)
{
    *deadlines = (struct deadlines){.armed = UINT64_MAX};
    uv_timer_init(loop, &deadlines->timer); /* cannot fail */
    deadlines->timer.data = deadlines;
}

void deadlines_close(struct deadlines *deadlines)
{
    assert(deadlines->count == 0);
    free(deadlines->heap);
    deadlines->heap = NULL;
    deadlines->capacity = 0;
    uv_close((uv_handle_t *)&deadlines->timer, NULL);
}

int deadlines_reserve(struct deadlines *deadlines, uint32_t count)
{
    const uint32_t doubled = 2 * deadlines->capacity;
    const uint32_t capacity = doubled > CAPACITY_MIN ? doubled : CAPACITY_MIN;
    struct task **heap;

    if (count <= deadlines->capacity)
        return 0;
    heap = seam.realloc(deadlines->heap, capacity * sizeof(struct task *));
    if (!heap)
        return -1;
    deadlines->heap = heap;
    deadlines->capacity = capacity;
    return 0;
}

void deadline_add(struct deadlines *deadlines, struct task *task)
{
    if (task->deadline == 0)
        return;
    assert(deadlines->count < deadlines->capacity);
    rise(deadlines, deadlines->count++, task);
    if (task->deadline < deadlines->armed)
        arm(deadlines);
}

void deadline_remove(struct deadlines *deadlines, struct task *task)
{
    const uint32_t at = task->deadline_place - 1;
    struct task *last;

    if (task->deadline_place == 0)
        return;
    task->deadline_place = 0;
    last = deadlines->heap[--deadlines->count];
    if (last != task && at > 0 && deadlines->heap[(at - 1) / 2]->deadline > last->deadline)
        rise(deadlines, at, last);
    else if (last != task)
        sink(deadlines, at, last);
    if (deadlines->count == 0)
        arm(deadlines);
}
