/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether what came of a job is what its "expect" says: the only place that decides it. Each
 * function sets verdict and exit of the outcome; one of them is called at each end of a job:
 *
 *     refused or failed  -> judge_failure()
 *     moved              -> judge_success(), the output is put in place, judge_output()
 */
#ifndef CLI_JUDGE_H
#define CLI_JUDGE_H

#include "cli/job/outcome.h"

/**
 * A job that ended with outcome->fault, whose pointer is relative to the job. `lost`: so did the
 * connection, which nobody expects. Where another error was expected, the fault's sentence says
 * both.
 */
void judge_failure(const struct job_spec *job, bool lost, struct outcome *outcome);

/**
 * A job that succeeded. Returns 0; or -1 with the fault filled where it should not have, and then
 * nothing is to be put in place.
 */
int judge_success(const struct job_spec *job, struct outcome *outcome);

/**
 * The finished output, open at resolved->output, against the golden file or the digest. Returns 0,
 * or -1 with the fault filled where one of them cannot be read; judge_failure() comes next.
 */
int judge_output(struct resolved *resolved, struct outcome *outcome);

/** What can be said of an output that is only planned: the golden file's dtype and shape. */
void judge_plan(const struct resolved *resolved, struct outcome *outcome);

#endif /* CLI_JUDGE_H */
