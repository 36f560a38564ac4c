/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on a command line, and calls that are about one job. */
#ifndef CLI_JOB_ARGS_H
#define CLI_JOB_ARGS_H

#include "cli/link/daemon_link.h"
#include "cli/options.h"

/** Whether all arguments are numbers of jobs. Returns 0, or -1 after saying which one is none. */
int job_args_check(const struct options *options);

/** Writes an argument, a job's number, as member `key`. */
void job_arg_write(struct jsonw *w, const char *key, const char *argument);

/** Calls a method whose params are a job and, above 0, timeout_ms. As client_call(). */
int job_arg_call(struct client *client, const char *method, const char *argument,
                 uint32_t timeout_ms, struct rpc_reply *reply, struct fault *fault);

#endif /* CLI_JOB_ARGS_H */
