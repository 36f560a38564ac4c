/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --resume: notes the inputs of each result, and later decides which results are still valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/kept.h"
#include "cli/job/job_files.h"
#include "cli/report/fingerprint.h"
#include "cli/report/report.h"
#include "cli/report/state_file.h"

/**
 * Notes the files that the jobs of `file` read, except outputs of earlier jobs, before the jobs
 * run. Leaves the inputs unknown if out of memory, or if the files exceed FINGERPRINT_FILES_MAX or
 * FINGERPRINT_NAMES_MAX. Call fingerprint_finish() when done.
 */
void resume_note_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                        struct contents *contents);

/** Marks the noted files that changed while the jobs ran. */
void resume_recheck_inputs(struct fingerprint *fingerprint, const struct job_file *file,
                           struct contents *contents);

struct resume {
    bool rerun, flaky_is_good; /* --rerun, --flaky */
    const struct keeping *keeping;
    const struct state *state;
    const struct run_setup *setup; /* setup of this run */
    struct contents *contents;
};

/**
 * Returns the earlier result of the case if it is still valid, else NULL. If the state file has a
 * result that is not valid, batch_case->rerun_reason becomes the reason (NULL if out of memory).
 */
const struct case_result *resume_find(const struct resume *resume, struct batch_case *batch_case);

/** Reports how many of the cases have a rerun_reason, in one line for each reason. */
void resume_report(struct batch_report *report, struct batch_case *const *cases, size_t count);

/* The checksum of all files that a case reads: machines compare it to detect different files. */

/** Returns the checksum of the contents that the fingerprint has: job file and all other files. */
uint64_t case_inputs_of(const struct fingerprint *fingerprint);

/** Reads the job file `path`, and the files that its jobs read. Sets *inputs to their checksum.
 * Returns 0, or -1 if the job file cannot be read. */
int case_inputs_read(const char *path, struct contents *contents, uint64_t *inputs,
                     struct fault *fault);
