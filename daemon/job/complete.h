/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crossing of threads: a task's transfer runs on its DMA channels, and its end comes back to
 * the loop's thread.
 *
 *     loop's thread     complete_start() ................................ dispatch_done()
 *                           | mli_mov_start()                                ^ async handle:
 *                           v                                                | the whole list
 *     whoever completes     channels at work ---> callback: notes the end, --+
 *     the transfer                                unmaps, appends to the list
 *
 * Who completes a transfer is the engine's business: a channel's thread, or this same thread
 * inside of mli_mov_start(), mli_mov_cancel() or mli_mov_poll(). All take the same way, so that
 * nothing of the daemon is ever called from inside of them.
 */
#ifndef DAEMON_COMPLETE_H
#define DAEMON_COMPLETE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct task;

struct completions {
    uv_async_t ended;   /* tasks were appended to the list; keeps the loop alive while any run */
    uv_idle_t poll;     /* runs while tasks do, where the engine makes progress only when polled */
    uint32_t running;   /* tasks started and not handed back yet */
    uv_thread_t thread; /* the loop's */
    bool starting;      /* it is inside complete_start(), and will look at the list by itself */
    _Atomic(struct task *) list; /* ended, the latest first; any thread adds */
};

/** Returns 0 or -errno, with nothing to close. The library's engine must be set. */
int completions_init(struct completions *completions, uv_loop_t *loop);
/** Begins to close, while no task runs; the memory must stay until the loop has run on. */
void completions_close(struct completions *completions);

/**
 * Starts the prepared transfer; dispatch_done() is called from the loop when it has ended. True
 * where it is in the list by now, as tiny ones are: completions_collect() saves a round of the
 * loop.
 */
bool complete_start(struct task *task);

/** Calls dispatch_done() for all that have ended. Loop's thread. */
void completions_collect(struct completions *completions);

/** Has dispatch_run() called soon, after the loop's other business. Loop's thread. */
void completions_resume(struct completions *completions);

/**
 * Asks for a running task's transfer to be given up: it ends soon, in the same way. Harmless for
 * one that does not run.
 */
void complete_cancel(struct task *task);

#endif /* DAEMON_COMPLETE_H */
