/* SPDX-License-Identifier: BSD-3-Clause */
/* From the queue to the channels. */
#ifndef DAEMON_DISPATCH_H
#define DAEMON_DISPATCH_H

struct service;
struct task;

/** Starts queued tasks as far as there are free channels. Call it when either changed. */
void dispatch_run(struct service *service);

/** The task's transfer has ended: gives the channels back and answers. For complete.c. */
void dispatch_done(struct task *task);

#endif /* DAEMON_DISPATCH_H */
