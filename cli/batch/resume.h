/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_RESUME_H
#define CLI_BATCH_RESUME_H

#include "cli/batch/batch.h"
#include "cli/batch/cases.h"
#include "cli/batch/fingerprint.h"
#include "cli/batch/report.h"
#include "cli/batch/state_file.h"
#include "cli/job/job_files.h"

/* The files that a case reads, and whether they are still what they were. */
/**
 * Notes what the jobs of the file read, but for the outputs of jobs before them. *basis is empty
 * before; it stays unknown where there is no memory, or the files are too many.
 * fingerprint_finish() when done.
 */
void resume_note_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                        struct contents *contents);

/** After the jobs have run: marks the files that changed meanwhile. */
void resume_recheck_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                           struct contents *contents);

/* Decides which results of an earlier run are still valid, and explains why others are not. */
struct resume {
    const struct batch_settings *settings;
    const struct state *state;
    const struct run_setup *setup; /* of this run */
    struct contents *contents;
};

/**
 * Returns the earlier result of the case if it is still valid, else NULL. If the state file has a
 * result that is not valid, batch_case->rerun becomes the reason (NULL without memory).
 */
const struct case_result *resume_find(const struct resume *resume, struct batch_case *batch_case);

/** Reports how many of the cases run again, a line for each reason. */
void resume_report(struct batch_report *report, struct batch_case *const *cases, size_t count);

#endif /* CLI_BATCH_RESUME_H */
