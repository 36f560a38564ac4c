/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that start when others have ended well. */
#ifndef DAEMON_AFTER_H
#define DAEMON_AFTER_H

#include "fault.h"
#include "job_ref.h"

struct client;
struct service;
struct task;

/**
 * Makes the task, not yet accepted, wait for those of `refs` that are under way. Returns 0, or -1
 * where one is not known or did not end well.
 */
int after_init(struct task *task, const struct client *client, const struct job_refs *refs,
               struct fault *fault);

/** The task does not wait for anybody any more. */
void after_forget(struct task *task);

/**
 * Ends some of the tasks whose predecessors have failed, and sets the service's clock. Call it
 * until service->failing is empty: ending a task may add others that wait for it.
 */
void after_settle(struct service *service);

#endif /* DAEMON_AFTER_H */
