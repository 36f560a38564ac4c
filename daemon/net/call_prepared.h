/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of job.prepare, job.start and job.release. */
#ifndef DAEMON_CALL_PREPARED_H
#define DAEMON_CALL_PREPARED_H

struct call;
struct ended;

const struct ended *job_prepare_call(struct call *call);
const struct ended *job_start_call(struct call *call);
const struct ended *job_release_call(struct call *call);

#endif /* DAEMON_CALL_PREPARED_H */
