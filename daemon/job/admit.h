/* SPDX-License-Identifier: BSD-3-Clause */
/* From a request's params and descriptors to a task that is ready to be queued. */
#ifndef DAEMON_ADMIT_H
#define DAEMON_ADMIT_H

#include <stddef.h>

struct client;
struct fault;
struct job;
struct json;
struct service;
struct task;

/**
 * Makes every check that can be made before the job's turn comes, and maps its memory. Has no
 * effect on anything a client can see. The descriptors stay the caller's and are not needed any
 * more. Returns null with the fault of `params` filled where the job is refused.
 */
struct task *admit(struct client *client, const struct json *params, const int *fds, size_t count);

/**
 * The job has come to stay: it gets its number, and its place in the queue or behind others.
 * dispatch_run() afterwards.
 */
void admit_accept(struct task *task);

/* Checks that a start of a prepared job and its preparation share. Return 0 or -1. */
int admit_check_serving(const struct service *service, struct fault *fault);
int admit_check_channels(const struct service *service, const struct job *job, struct fault *fault);

#endif /* DAEMON_ADMIT_H */
