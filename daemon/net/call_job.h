/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers that look after jobs: job.wait, job.status, job.list and job.cancel. */
#ifndef DAEMON_CALL_JOB_H
#define DAEMON_CALL_JOB_H

struct call;
struct ended;

const struct ended *job_wait_call(struct call *call);
const struct ended *job_status_call(struct call *call);
const struct ended *job_list_call(struct call *call);
const struct ended *job_cancel_call(struct call *call);

#endif /* DAEMON_CALL_JOB_H */
