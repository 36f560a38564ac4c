/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a task from the params and descriptors of job.submit. */
#ifndef DAEMON_ADMIT_H
#define DAEMON_ADMIT_H

#include <stddef.h>

struct fault;
struct job;
struct json;
struct jobs;
struct session;
struct task;

/**
 * Makes every check that is possible before the job's turn comes, and maps its memory. Changes
 * nothing that a client can see. The caller keeps the descriptors and may close them. Returns NULL
 * with the fault of `params` filled if the job is refused.
 */
struct task *admit(struct session *session, const struct json *params, const int *fds,
                   size_t count);

/**
 * Accepts the task: gives it a number, and queues it or makes it wait for other jobs. Call
 * dispatch_run() afterwards.
 */
void admit_accept(struct task *task);

/* Checks that job.submit, job.prepare and job.start share: return 0, or -1 with *fault filled. */
int admit_check_serving(const struct jobs *jobs, struct fault *fault);
int admit_check_channels(const struct jobs *jobs, const struct job *job, struct fault *fault);

#endif /* DAEMON_ADMIT_H */
