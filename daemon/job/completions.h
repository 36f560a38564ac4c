/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts transfers, and reports their ends to the loop's thread. Only here, the loop's thread and
 * other threads share data.
 *
 *     loop's thread       completions_start() ............................ dispatch_done()
 *                             | mli_mov_start()                               ^ async handle:
 *                             v                                               | the whole list
 *     completing thread   channels at work ---> callback: notes the end, -----+
 *                                               unmaps, appends to the list
 *
 * The completing thread depends on the engine. It is a thread of the channel, or the loop's thread
 * inside mli_mov_start(), mli_mov_cancel() or mli_mov_poll(). Both use the same list, so that these
 * functions never call the rest of the daemon.
 */
#ifndef DAEMON_COMPLETIONS_H
#define DAEMON_COMPLETIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct task;

struct completions {
    uv_async_t ended;   /* sent for new tasks in the list; keeps the loop alive while tasks run */
    uv_idle_t poll;     /* drives an engine that makes progress only when polled, while tasks run */
    uint32_t running;   /* tasks that were started and are not handed back yet */
    uv_thread_t thread; /* thread of the loop */
    bool starting; /* true: completions_start() is on the stack, and reads the list afterwards */
    _Atomic(struct task *) list; /* ended tasks, the latest first; any thread may add one */
};

/** Initialises for an engine that is already set. Returns 0, or -errno with nothing to close. */
int completions_init(struct completions *completions, uv_loop_t *loop);
/** Begins to close the handles; no task may be running. The struct must stay until the loop has
 * closed them. */
void completions_close(struct completions *completions);

/**
 * Starts the task's prepared transfer. The loop calls dispatch_done() when it has ended. Returns
 * true if tasks have ended already, as a tiny transfer does: calling completions_collect() then
 * saves a round of the loop.
 */
bool completions_start(struct task *task);

/** Calls dispatch_done() for all tasks that have ended. Called on the loop's thread. */
void completions_collect(struct completions *completions);

/** Makes the loop call dispatch_run() after its other work. Called on the loop's thread. */
void completions_resume(struct completions *completions);

/**
 * Cancels the transfer of a running task, which then ends soon like any other transfer. Does
 * nothing for a task that is not running.
 */
void completions_cancel(struct task *task);

#endif /* DAEMON_COMPLETIONS_H */
