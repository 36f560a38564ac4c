/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that start when others have ended well. */
#ifndef DAEMON_AFTER_H
#define DAEMON_AFTER_H

#include "proto/json/fault.h"
#include "proto/wire/job_info.h"
#include "proto/wire/job_ref.h"

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

/** The task has ended in `state`: adds its dependents to service->settling. Takes O(1) time. */
void after_ended(struct task *task, enum job_state state);

/**
 * Queues or ends up to 16 dependents of ended tasks, first those of the task that ended first, and
 * sets the service's clock. Call it until service->settling is empty: ending a dependent may add
 * its own dependents.
 */
void after_settle(struct service *service);

#endif /* DAEMON_AFTER_H */
