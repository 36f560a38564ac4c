/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deadlines of tasks: a binary heap with the next deadline first, and one timer, which runs only
 * while the heap has tasks.
 */
#ifndef DAEMON_DEADLINE_H
#define DAEMON_DEADLINE_H

#include <stdint.h>
#include <uv.h>

struct task;

struct deadlines {
    struct task **heap;
    uint32_t count, capacity;
    uint64_t armed; /* uv_hrtime() at which the timer fires; UINT64_MAX: stopped */
    uv_timer_t timer;
};

void deadlines_init(struct deadlines *deadlines, uv_loop_t *loop);
/** Begins to close the timer; the heap must be empty. The struct must stay until the loop has
 * closed the timer. */
void deadlines_close(struct deadlines *deadlines);

/** Makes sure that the heap has memory for `count` tasks. Returns 0, or -1 if out of memory. */
int deadlines_reserve(struct deadlines *deadlines, uint32_t count);
/** Adds a task, which is ended at task->deadline. Does nothing if that is 0. */
void deadline_add(struct deadlines *deadlines, struct task *task);
/** Removes a task; does nothing if it is not in the heap. */
void deadline_remove(struct deadlines *deadlines, struct task *task);

#endif /* DAEMON_DEADLINE_H */
