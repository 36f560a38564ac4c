/* SPDX-License-Identifier: BSD-3-Clause */
/* "after": jobs that start when other jobs are done. */
#ifndef DAEMON_AFTER_H
#define DAEMON_AFTER_H

#include "proto/json/fault.h"
#include "proto/wire/job_info.h"
#include "proto/wire/job_ref.h"

struct jobs;
struct session;
struct task;

/**
 * Makes a task, which is not accepted yet, wait for the jobs of `refs` that have not ended. Returns
 * 0, or -1 with *fault filled if a job is not known, has failed or was cancelled.
 */
int after_init(struct task *task, const struct session *session, const struct job_refs *refs,
               struct fault *fault);

/** Drops all dependencies of the task. */
void after_forget(struct task *task);

/** The task has ended in `state`: adds its dependents to jobs->settling. Takes O(1) time. */
void after_ended(struct task *task, enum job_state state);

/**
 * Queues or ends up to 16 dependents of ended tasks, first those of the task that ended first, and
 * sets jobs->clock. Call it until jobs->settling is empty: ending a dependent may add
 * its own dependents.
 */
void after_settle(struct jobs *jobs);

#endif /* DAEMON_AFTER_H */
