/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a job can be told before it runs, as far as its files are there. */
#ifndef CLI_MAKE_CHECK_H
#define CLI_MAKE_CHECK_H

#include "cli/job/job_files.h"

/**
 * Checks the first job of `file` against the tensors that are there. Those that are not yet are
 * fine: dimensions are then counted from the job's own lists. Returns 0 or -1.
 */
int make_check(const struct job_file *file, struct fault *fault);

#endif /* CLI_MAKE_CHECK_H */
