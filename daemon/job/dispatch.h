/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses which queued task starts next and on which channels. */
#ifndef DAEMON_DISPATCH_H
#define DAEMON_DISPATCH_H

struct jobs;
struct task;

/** Queues an accepted task without open dependencies. Call dispatch_run() afterwards. */
void dispatch_queue(struct task *task);

/**
 * Starts queued tasks while there are free channels, and ends dependents of failed tasks.
 * Call it from the loop after every change. Does nothing if it is already on the stack.
 */
void dispatch_run(struct jobs *jobs);

/** Ends a task after its transfer: frees its channels and destroys it. For completions.c. */
void dispatch_done(struct task *task);

#endif /* DAEMON_DISPATCH_H */
