/* SPDX-License-Identifier: BSD-3-Clause */
/* The files a job reads, opened and described. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/job/resolve.h"

/** Opens the source; wire.src describes it afterwards. Returns 0 or -1. */
int inputs_open_src(struct resolved *resolved, const struct produced *produced,
                    struct fault *fault);

/**
 * Opens the tensor that is to be updated, locked unless there is a `produced`; before.header.rank
 * stays 0 where there is none, or it is a raw file of which the job tells no shape. Returns 0 or
 * -1.
 */
int inputs_open_before(struct resolved *resolved, const struct produced *produced,
                       struct fault *fault);

/**
 * Opens what is expected, once `whole` is known; a golden file that may be missing, and is, stays
 * closed. Returns 0 or -1.
 */
int inputs_open_expect(struct resolved *resolved, const struct produced *produced,
                       struct fault *fault);

/**
 * Refuses a job one of whose outputs is a file that it also reads, be it its own job file. Returns
 * 0 or -1.
 */
int inputs_check_distinct(const struct resolved *resolved, const struct job_file *file,
                          struct fault *fault);

#endif /* CLI_INPUTS_H */
