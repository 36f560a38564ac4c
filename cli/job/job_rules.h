/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a target profile for jobs, for commands that check jobs without running them. */
#pragma once

#include <stdbool.h>

#include "cli/job/explained.h"
#include "cli/job/explained_board.h"
#include "cli/job/resolve.h"
#include "cli/job/staging.h"
#include "cli/options.h"
#include "target/profile/target_profile.h"

struct job_rules {
    struct target_profile *profile; /* owned; null: --profile was not given */
    bool of_daemon;                 /* true: a daemon checks the memories, with its own profile */
    /* Places of the buffers of the current job file, if there is a profile. */
    struct buffer_places buffers;
};

/**
 * Loads the profile of --profile. Without the option, jobs must not name memories, unless --socket
 * or --host names a daemon. Returns 0 or -1; job_rules_finish() is legal after both.
 */
int job_rules_init(struct job_rules *rules, const struct options *options, struct fault *fault);
void job_rules_finish(struct job_rules *rules);

/**
 * Places the buffers of a job file before its jobs are checked. Returns 0, or -1 with the fault,
 * whose pointer is relative to the file; job_rules_end() is legal after both.
 */
int job_rules_begin(struct job_rules *rules, const struct job_file *file, struct fault *fault);
void job_rules_end(struct job_rules *rules);

/**
 * Checks the memories and addresses of a job as a service with this profile does. A tensor must fit
 * into its memory, but other jobs are not taken into account. Returns 0, or -1 with the fault,
 * whose pointer is relative to the job.
 */
int job_rules_check(const struct job_rules *rules, const struct resolved *resolved,
                    const struct explained *explained, struct fault *fault);

/**
 * Checks each of the three jobs of a staged job against the rules. The two staging buffers are
 * placed in addition to the buffers of the job file. `produced` is as for resolved_plan(). Returns
 * 0, or -1 with a fault and a pointer relative to the job.
 */
int job_rules_check_staging(const struct job_rules *rules, struct staging *stage,
                            const struct produced *produced, struct fault *fault);

/**
 * Writes remarks about the addresses of a job on the board, if there is a profile and the job fits
 * on its board. The addresses are those of a job that is the only one on the board. `produced`:
 * files that count as existing, or null.
 */
void job_rules_advise(const struct job_rules *rules, const struct job_file *file,
                      const struct resolved *resolved, const struct produced *produced,
                      struct board_remarks *remarks);
