/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler of job.submit, and what all requests that make a job share. */
#ifndef DAEMON_CALL_SUBMIT_H
#define DAEMON_CALL_SUBMIT_H

struct call;
struct ended;
struct task;

const struct ended *job_submit_call(struct call *call);

/** Lets the task in and starts what can be started. It answers, now or when it has ended. */
const struct ended *call_accept_job(struct call *call, struct task *task);
/** There is no job: the request's fault says why. */
const struct ended *call_refuse_job(struct call *call);

#endif /* DAEMON_CALL_SUBMIT_H */
