/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline.h"

#include <inttypes.h>

#include "dispatch.h"
#include "state.h"
#include "task.h"

enum { NS_PER_MS = 1000 * 1000 };

static void on_timer(uv_timer_t *timer);

/* Sets the timer to the first deadline. */
static void arm(struct deadlines *deadlines)
{
    uint64_t first = UINT64_MAX, now = uv_hrtime(), delay;

    for (struct link *l = deadlines->tasks.next; l != &deadlines->tasks; l = l->next) {
        const struct task *task = LINK_OWNER(l, struct task, deadline_link);

        if (task->deadline < first)
            first = task->deadline;
    }
    deadlines->armed = first;
    if (first == UINT64_MAX) {
        uv_timer_stop(&deadlines->timer);
        return;
    }
    delay = first > now ? (first - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    uv_update_time(deadlines->timer.loop); /* else the timer counts from a time long past */
    uv_timer_start(&deadlines->timer, on_timer, delay, 0);
}

/* A queued task is over; a running one is when its transfer has been stopped. */
static void expire(struct task *task)
{
    struct fault fault;

    fault_set(&fault, FAULT_TIMED_OUT, "/timeout_ms",
              "timeout_ms: the job was not done within %" PRIu32 " ms, it was %s", task->timeout_ms,
              task->state == JOB_STATE_RUNNING  ? "running"
              : task->state == JOB_STATE_QUEUED ? "still queued"
                                                : "still waiting for others");
    task_abort(task, &fault);
}

static void on_timer(uv_timer_t *timer)
{
    struct deadlines *deadlines = timer->data;
    struct service *service = LINK_OWNER(deadlines, struct service, deadlines);
    const uint64_t now = uv_hrtime();

    for (struct link *l = deadlines->tasks.next, *next; l != &deadlines->tasks; l = next) {
        struct task *task = LINK_OWNER(l, struct task, deadline_link);

        next = l->next;
        if (task->deadline <= now)
            expire(task);
    }
    arm(deadlines);
    dispatch_run(service); /* the task that held up the queue may be gone */
}

void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop)
{
    link_init(&deadlines->tasks);
    deadlines->armed = UINT64_MAX;
    uv_timer_init(loop, &deadlines->timer); /* cannot fail */
    deadlines->timer.data = deadlines;
}

void deadlines_close(struct deadlines *deadlines)
{
    uv_close((uv_handle_t *)&deadlines->timer, NULL);
}

void deadline_add(struct deadlines *deadlines, struct task *task)
{
    if (task->deadline == 0)
        return;
    link_append(&deadlines->tasks, &task->deadline_link);
    if (task->deadline < deadlines->armed)
        arm(deadlines);
}

void deadline_remove(struct deadlines *deadlines, struct task *task)
{
    if (link_empty(&task->deadline_link))
        return;
    link_remove(&task->deadline_link);
    if (link_empty(&deadlines->tasks))
        arm(deadlines);
}
