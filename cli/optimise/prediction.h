/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that the jobs of a file take on a board, by the cost model (target/cost). */
#ifndef CLI_PREDICTION_H
#define CLI_PREDICTION_H

#include <stdint.h>

#include "cli/job/job_files.h"
#include "target/profile/target_profile.h"

/**
 * Sets *ns to the time from the start of the first job to the end of the last, as `mlictl explain
 * --profile` shows it; 0: a job or a buffer cannot be on the board. Returns 0, or -1 with the fault
 * if a job cannot be resolved.
 */
int prediction_find(uint64_t *ns, const struct job_file *file, const struct target_profile *profile,
                    struct fault *fault);

#endif /* CLI_PREDICTION_H */
