/* SPDX-License-Identifier: BSD-3-Clause */
/* One attempt at a case: its job file read, its jobs run one after the other, until one fails. */
#ifndef CLI_BATCH_ATTEMPT_H
#define CLI_BATCH_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/contents.h"
#include "cli/batch/evidence.h"
#include "cli/batch/result.h"
#include "cli/job/job_files.h"
#include "cli/job/produced.h"
#include "cli/link/daemon_link.h"

struct attempt_plan {
    uint32_t timeout_ms; /* of an attempt; 0: none */
    bool update_golden;  /* a result that is not as expected is written down, and the rest runs */
    bool keep;           /* the evidence of a failure is wanted */
    struct contents *contents; /* null: do not note the basis of the result */
};

enum attempt_end {
    ATTEMPT_ENDED,
    ATTEMPT_INTERRUPTED, /* ^C: there is no result */
    ATTEMPT_LOST         /* the daemon has gone: there is no result, `lost` says why */
};

struct attempt {
    enum attempt_end end;
    struct case_result result; /* all but name, file, attempts and kept */
    struct fault lost;
    /* What the evidence is about; private. */
    struct job_file file;
    struct produced produced;
    struct evidence evidence;
    const struct attempt_plan *plan;
    bool over; /* no further job of it runs */
};

/** Runs it over the connection, which may be lost afterwards also where it ended. */
void attempt_run(struct attempt *attempt, const struct batch_case *batch_case,
                 struct client *client, const struct attempt_plan *plan);

static inline bool attempt_passed(const struct attempt *attempt)
{
    return attempt->end == ATTEMPT_ENDED && attempt->result.status == CASE_PASSED;
}

void attempt_finish(struct attempt *attempt);

#endif /* CLI_BATCH_ATTEMPT_H */
