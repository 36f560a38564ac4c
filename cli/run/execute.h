/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one job on a service; the head of this folder. The job is resolved (cli/job/resolve.h) and
 * sent to the service. Then mlictl waits for the job, puts the output in place and judges it
 * (outcome.h); or it leaves the job to the daemon, which fills the output later (struct detach).
 * Data flow:
 *
 *     job files -> sequence.c -> job_buffers.c  buffers at the service, for each file
 *                             -> execute.c      each job -> struct outcome
 *     job_limits.c has the limits of a service, for commands that only check jobs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/job/job_files.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/races.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"
#include "cli/run/job_buffers.h"
#include "cli/term/print.h"

/* The progress of one job on a terminal, from the events of the service (struct meter). */

enum { JOB_PROGRESS_LABEL_MAX = 192 };

struct job_progress {
    struct print_style style;
    bool subscribed;
    char label[JOB_PROGRESS_LABEL_MAX];
    struct meter meter;
};

/**
 * Subscribes to the progress of the connection's jobs, if a meter would show a line. The
 * connection must have no other subscription, and `progress` must outlive it. If the service
 * refuses, no progress is shown.
 */
void job_progress_follow(struct job_progress *progress, struct daemon_link *link,
                         const struct print_style *style);

/** Options of the commands that wait for outputs. */
#define EXECUTE_OPTIONS OPTION("sync", NULL, "Sync outputs to storage before a job counts as done.")

/* The connection, and options of all jobs. */
struct execution {
    struct daemon_link *link;
    struct produced *produced;     /* keeps outputs in memory; null: outputs go to the disk */
    struct job_progress *progress; /* null: no progress is shown */
    uint64_t deadline_ns;          /* clock_ns() by which all jobs must end; 0: no limit */
    bool sync;                     /* true: sync outputs to storage before a job counts as done */
    bool fresh;                    /* true: refuse new outputs that would replace a file */
    struct job_buffers buffers;    /* buffers of the current job file */
    struct job_rules *rules; /* rules that each job is checked against before it is sent; or null */
    /* Profile of the embedded service, for staged jobs; or null. */
    const struct target_profile *profile;
    /** Null, or called for each job that moved its data. */
    void (*moved)(void *context, const struct job_file *file, const struct resolved *resolved,
                  struct outcome *outcome);
    /** Null, or called for a job with an unexpected result while its files are still open. */
    void (*failed)(void *context, const struct resolved *resolved, const struct outcome *outcome);
    void *context;
};

/**
 * Allocates the buffers of a job file before its first job, and releases them after its last one;
 * `execution` is a struct execution. Suitable as `begin` and `end` of struct sequence_work.
 */
int execution_begin(void *execution, const struct job_file *file, struct fault *fault);
void execution_end(void *execution);

/**
 * Runs a job of `file`; `execution` is a struct execution. *outcome is empty before; the pointer
 * of its fault is relative to the file. Suitable as `job` of struct sequence_work.
 */
void execution_run(void *execution, const struct job_file *file, const struct job_spec *job,
                   struct outcome *outcome);

/*
 * Detached jobs. A job whose source is the output of an earlier job waits for that job, as if it
 * named the job in "after".
 */

/** A file that a detached job fills. */
struct detached_output {
    dev_t device;
    ino_t inode;
    uint64_t number; /* the daemon's number of the job; 0: the daemon has not admitted the job */
};

/** Detached jobs of one daemon. */
struct detach {
    struct daemon_link *link;
    const struct print_style *style; /* style of warnings */
    uint64_t *numbers; /* numbers of the jobs of the file at the daemon; owned; 0: not sent */
    struct job_buffers buffers;      /* of the file; detached jobs keep the memory that they use */
    struct job_rules *rules;         /* like `rules` of struct execution */
    struct races races;              /* of the file */
    struct detached_output *outputs; /* outputs of the detached jobs of all files; owned */
    size_t output_count, output_capacity;
};

void detach_finish(struct detach *detach);

/** Refuses a file with a job that cannot be detached. Call it for all files before any job is sent.
 * Returns 0, or -1 with the fault. */
int detach_check(const struct detach *detach, const struct job_file *file, struct fault *fault);

/** Like execution_begin() and execution_end(); `context` is a struct detach. */
int detach_begin(void *context, const struct job_file *file, struct fault *fault);
void detach_end(void *context);

/**
 * Sends a job of `file` and does not wait for it; `context` is a struct detach. Like
 * execution_run(), but the outcome has the job's number and no result.
 */
void detach_job(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome);
