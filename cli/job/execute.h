/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One job, carried out: resolved (resolve.h), sent to the service (submission.h) and waited for;
 * its output is put in place and judged (outcome.h). detach.h has jobs that nobody waits for.
 */
#ifndef CLI_EXECUTE_H
#define CLI_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/job/job_buffers.h"
#include "cli/job/job_files.h"
#include "cli/job/job_progress.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"

/** Options of the commands that wait for outputs. */
#define EXECUTE_OPTIONS                                                                            \
    {                                                                                              \
        "sync", 0, NULL, "Sync outputs to storage before a job counts as done."                    \
    }

/* The connection, and options of all jobs. */
struct execution {
    struct daemon_link *link;
    struct produced *produced;     /* keeps outputs in memory; null: outputs go to the disk */
    struct job_progress *progress; /* null: no progress is shown */
    uint64_t deadline_ns;          /* clock_ns() by which all jobs must end; 0: no limit */
    bool sync;                     /* true: sync outputs to storage before a job counts as done */
    bool fresh;                    /* true: refuse new outputs that would replace a file */
    struct job_buffers buffers;    /* of the current job file */
    struct job_rules *rules; /* rules that each job is checked against before it is sent; or null */
    const struct target_profile *profile; /* of the embedded service, for staged jobs; or null */
    /** Null, or called for each job that moved its data. */
    void (*moved)(void *context, const struct job_file *file, const struct resolved *resolved,
                  struct outcome *outcome);
    /** Null, or called for a job with an unexpected result while its files are still open. */
    void (*failed)(void *context, const struct resolved *resolved, const struct outcome *outcome);
    void *context;
};

/**
 * Allocates the buffers of a job file before its first job, and releases them after its last one;
 * `execution` is a struct execution. Fit `begin` and `end` of struct sequence_work.
 */
int execution_begin(void *execution, const struct job_file *file, struct fault *fault);
void execution_end(void *execution);

/**
 * Runs a job of `file`, `execution` being a struct execution. *outcome is empty before; the pointer
 * of its fault is relative to the file. Fits `job` of struct sequence_work.
 */
void execution_run(void *execution, const struct job_file *file, const struct job_spec *job,
                   struct outcome *outcome);

#endif /* CLI_EXECUTE_H */
