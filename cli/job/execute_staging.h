/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries out a job with "stage": part of execute.c. */
#ifndef CLI_EXECUTE_STAGING_H
#define CLI_EXECUTE_STAGING_H

#include "cli/job/execute.h"

/* Runs one job that is not staged, as execution_run() does, without judging its end. */
typedef int execution_step(const struct execution *execution, const struct job_file *file,
                           const struct job_spec *job, struct resolved *r, struct outcome *outcome);

/**
 * Runs the three jobs of a staged job with `step`. *r becomes the whole job, with the output of the
 * last step; the caller finishes it, also on failure. Returns 0, or -1 with outcome->fault and a
 * pointer relative to the job.
 */
int execution_run_staging(const struct execution *execution, const struct job_file *file,
                          const struct job_spec *job, execution_step *step, struct resolved *r,
                          struct outcome *outcome);

#endif /* CLI_EXECUTE_STAGING_H */
