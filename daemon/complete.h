/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The crossing of threads: a transfer runs on a thread of libuv's pool, and its end is handed back
 * to the loop's thread. The pool has 4 threads unless UV_THREADPOOL_SIZE says otherwise; mlid asks
 * for one per channel.
 */
#ifndef DAEMON_COMPLETE_H
#define DAEMON_COMPLETE_H

struct task;

/** Runs the prepared task; dispatch_done() is called on the loop's thread when it has ended. */
void complete_start(struct task *task);

#endif /* DAEMON_COMPLETE_H */
