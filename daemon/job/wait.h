/* SPDX-License-Identifier: BSD-3-Clause */
/* job.wait: an answer that is due when certain jobs have ended, however they do. */
#ifndef DAEMON_WAIT_H
#define DAEMON_WAIT_H

#include "proto/wire/job_calls.h"

struct call;
struct ended;

/** Answers at once where there is nothing to wait for. The params stay the caller's. */
const struct ended *wait_begin(struct call *call, const struct job_wait *params);

#endif /* DAEMON_WAIT_H */
