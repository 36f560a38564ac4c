/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that make jobs, and the replies to them when the jobs have ended. */
#ifndef DAEMON_SUBMIT_H
#define DAEMON_SUBMIT_H

#include "daemon/job/task.h"
#include "daemon/net/answer.h"

/* A task with the reply that its client waits for. The job room allocates it. */
struct submission {
    struct task task; /* first */
    struct answer
        answer; /* the reply that is still due, unless the task is detached or has ended */
    uint64_t reply_bytes; /* bytes of the reply that the client's backlog expects */
};

/** Replies to the request of a task that has ended (jobs_callbacks.ended). */
void submission_ended(struct task *task, const struct ending *ending);
/** Takes the task out of its session, because the client has left: no reply is sent. */
void submission_leave(struct task *task);
/** Returns an upper bound of the bytes of the reply, as backlog_of_result() counts them. */
uint64_t submission_reply_max(const struct task *task);

#endif /* DAEMON_SUBMIT_H */
