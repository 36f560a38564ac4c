/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One attempt at a case: reads the job file and runs its jobs, one at a time, until a job fails.
 */
#ifndef CLI_BATCH_ATTEMPT_H
#define CLI_BATCH_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/cases.h"
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
    bool keep;                 /* take the evidence of a failure */
    struct contents *contents; /* NULL: do not note the inputs of the case */
    const struct target_profile *profile; /* board for predicted times, or NULL */
};

enum attempt_end {
    ATTEMPT_ENDED,
    ATTEMPT_INTERRUPTED, /* the user pressed ^C: the attempt has no result */
    ATTEMPT_LOST,        /* the connection was lost (`lost`): the attempt has no result */
    ATTEMPT_UNCOUNTED    /* of a trial: a queue did not count its result */
};

struct attempt {
    enum attempt_end end;
    struct case_result result; /* result of the attempt, without name, file, attempts and kept */
    struct fault lost;
    struct evidence evidence; /* evidence of the first job that failed */
    /* Private: `file` owns the job that `evidence` refers to. */
    struct job_file file;
    struct produced produced;
    const struct job_buffers *buffers; /* of `file` while its jobs run */
    const struct attempt_plan *plan;
    bool over;                   /* true: run no further job */
    size_t moved;                /* number of jobs that moved data */
    struct timeline timeline;    /* of these jobs, with a profile */
    struct buffer_places places; /* of the buffers of `file`, with a profile */
};

/** Runs the case over `link`. Afterwards the connection may be lost even if the attempt ended. */
void attempt_run(struct attempt *attempt, const struct batch_case *batch_case,
                 struct daemon_link *link, const struct attempt_plan *plan);

static inline bool attempt_passed(const struct attempt *attempt)
{
    return attempt->end == ATTEMPT_ENDED && attempt->result.status == CASE_PASSED;
}

void attempt_finish(struct attempt *attempt);

#endif /* CLI_BATCH_ATTEMPT_H */
