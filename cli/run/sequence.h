/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a command line, in order. All files are read and checked before the first job
 * begins. A job with a failed predecessor is skipped; all other jobs still run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/job_files.h"
#include "cli/options.h"
#include "cli/run/execute.h"
#include "cli/term/print.h"

struct sequence {
    struct print_style style;
    bool fail_fast;
    struct job_file *files;
    size_t file_count;
};

/* Callbacks for each job, and for its report. */
struct sequence_work {
    void (*job)(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome);
    void (*report)(const struct print_style *style, const struct job_file *file,
                   const struct job_spec *job, const struct outcome *outcome);
    void *context;
    /* `begin` is called before the first job of each file, `end` after the last one; both may be
       null. If `begin` fails, with the fault filled, the jobs of the file are skipped; `end` is
       still called. */
    int (*begin)(void *context, const struct job_file *file, struct fault *fault);
    void (*end)(void *context);
    /* Selects jobs; null: all jobs. The other jobs run too, because selected jobs may need them,
     * but they are not reported and do not affect the exit code. */
    bool (*wanted)(void *context, const struct job_file *file, const struct job_spec *job);
};

/** Loads the job files that the arguments name; prints the errors of each file. */
enum exit_code sequence_init(struct sequence *sequence, const struct options *options);
void sequence_finish(struct sequence *sequence);

/**
 * Runs all jobs. Returns the first exit code other than EXIT_CODE_DONE, in the order in which the
 * jobs ran. A lost connection or a cancel ends the run.
 */
enum exit_code sequence_run(struct sequence *sequence, const struct sequence_work *work);

/** Returns the largest number of channels of a job. */
uint32_t sequence_channels(const struct sequence *sequence);

/** Options of every command that takes job files. */
#define SEQUENCE_OPTIONS OPTION("fail-fast", NULL, "Stop at the first job that fails.")
