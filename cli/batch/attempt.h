/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One attempt at a case reads the job file and runs its jobs, one at a time, until a job fails. A
 * trial is all attempts at a case until its verdict.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/kept.h"
#include "cli/explain/timeline.h"
#include "cli/job/job_files.h"
#include "cli/job/produced.h"
#include "cli/link/daemon_link.h"
#include "cli/report/fingerprint.h"
#include "cli/report/result.h"
#include "proto/json/fault.h"

struct attempt_plan {
    uint32_t timeout_ms;       /* 0: no limit */
    bool update_golden;        /* write results that differ as golden files, and continue */
    bool require_expect;       /* fail a case that has no job with "expect" */
    bool keep;                 /* keep the evidence of a failure */
    struct contents *contents; /* NULL: do not note the inputs of the case */
    const struct target_profile *profile; /* board for predicted times, or NULL */
};

enum attempt_end {
    ATTEMPT_ENDED,
    ATTEMPT_INTERRUPTED, /* the user pressed ^C: the attempt has no result */
    ATTEMPT_LOST,        /* the connection was lost, so the attempt has no result */
    ATTEMPT_UNCOUNTED    /* the queue did not count the result; only a trial can end so */
};

struct attempt {
    enum attempt_end end;
    struct case_result result; /* result of the attempt, without name, file, attempts and kept */
    struct fault lost;
    struct evidence evidence; /* evidence of the first job that failed */
    /* Private: `file` owns the job that `evidence` refers to. */
    struct job_file file;
    struct produced produced;
    const struct job_buffers *buffers; /* buffers of `file`, valid while its jobs run */
    const struct attempt_plan *plan;
    bool over;                   /* true: run no further job */
    bool has_new;                /* true: the attempt passed, and a job has GOLDEN.new */
    size_t moved;                /* number of jobs that moved data */
    struct timeline timeline;    /* timeline of the jobs of `file`, if there is a profile */
    struct buffer_places places; /* places of the buffers of `file`, if there is a profile */
};

/* A trial: all attempts at one case until its verdict. */
struct trial_plan {
    struct attempt_plan attempt;
    uint32_t repeat;               /* attempts that must pass */
    uint32_t retries;              /* attempts that may fail */
    atomic_uint *repeat_now;       /* set to the number of each attempt that begins; or NULL */
    struct keeping keeping;        /* directory for failed cases */
    const struct options *options; /* options of the command line, for connector_rerun_command() */
    struct run_setup setup;        /* setup of the run, for the fingerprints of results */
};

struct trial {
    enum attempt_end end;
    struct case_result result; /* valid if the trial ended; call case_result_finish() when done */
    struct fault fault; /* reason why the connection was lost, or why the case was not kept */
    bool complains;     /* true: the case was not kept */
    bool has_new;       /* true: an attempt passed, and a job has GOLDEN.new */
};

/** Runs the trial of a case. Connects `link` if it is not connected, and leaves it open. */
void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct daemon_link *link);
