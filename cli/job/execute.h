/* SPDX-License-Identifier: BSD-3-Clause */
/* One job, carried out: resolved, sent, awaited, its output put in place and judged. */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

#include "client.h"
#include "job.h"
#include "job_files.h"
#include "outcome.h"
#include "resolve.h"

/** Gives the output its size before anything moves, and an update its bytes. Returns 0 or -1. */
int execute_prepare_output(struct resolved *resolved, struct fault *fault);
/** Writes the header of a new .npy. Returns 0 or -1. */
int execute_write_header(struct resolved *resolved, struct fault *fault);
/** What the service says of a descriptor concerns the file that it is to the user. */
void execute_translate(struct fault *fault);

/**
 * Runs a job of `file` over the connection, `context` being a struct client. *outcome is empty
 * before; its fault gets a pointer into the file. (It is the `job` of a struct sequence_work.)
 */
void execute_job(void *context, const struct job_file *file, const struct job *job,
                 struct outcome *outcome);

#endif /* CLI_EXECUTE_H */
