/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of one job on the service that execute.c and detach.c have in common, in this order. A
 * function that returns int returns 0, or -1 with the fault, whose pointer is relative to the job.
 */
#ifndef CLI_SUBMISSION_H
#define CLI_SUBMISSION_H

#include "cli/job/job_rules.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"

/** Checks a job against the rules of a board before it is sent. `rules` may be null: none. */
int submission_check_rules(const struct job_rules *rules, const struct job_file *file,
                           const struct resolved *r, struct fault *fault);

/**
 * Replaces a big-endian source by a copy. A stream carries whole files: also copies the tensor out
 * of an archive, to send only the tensor.
 */
int submission_lift_source(const struct daemon_link *link, struct resolved *r, struct fault *fault);

/** Sets the size of the output before any data moves. For an update, also copies the old bytes. */
int submission_prepare_output(struct resolved *r, struct fault *fault);

/** Writes the header of a new .npy file. */
int submission_write_header(struct resolved *r, struct fault *fault);

/**
 * Sends the job and its files to the service. `timeout_ms` limits the wait for the reply; -1: no
 * limit. Returns 0 with a successful *reply, which the caller finishes; or -1.
 */
int submission_send(struct daemon_link *link, const struct resolved *r, int timeout_ms,
                    struct rpc_reply *reply, struct fault *fault);

#endif /* CLI_SUBMISSION_H */
