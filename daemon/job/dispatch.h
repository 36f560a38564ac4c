/* SPDX-License-Identifier: BSD-3-Clause */
/* From the queue to the channels and back. */
#ifndef DAEMON_DISPATCH_H
#define DAEMON_DISPATCH_H

struct jobs;
struct task;

/** An accepted task that waits for nobody. dispatch_run() afterwards. */
void dispatch_queue(struct task *task);

/**
 * Starts queued tasks as far as there are free channels, and ends what has failed with others. Call
 * it from the loop when something has changed; calls from inside of it do no harm.
 */
void dispatch_run(struct jobs *jobs);

/** The task's transfer has ended: gives the channels back, and ends it. For complete.c. */
void dispatch_done(struct task *task);

#endif /* DAEMON_DISPATCH_H */
