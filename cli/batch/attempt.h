/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_ATTEMPT_H
#define CLI_BATCH_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/batch/cases.h"
#include "cli/batch/fingerprint.h"
#include "cli/batch/kept.h"
#include "cli/batch/result.h"
#include "cli/job/job_files.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"
#include "proto/json/fault.h"

/* One attempt at a case: its job file read, its jobs run one after the other, until one fails. */
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

/* Golden files as they would be if what a job gave were right. */
/** Whether the outcome is one that another golden file or digest would mend. */
bool golden_would_do(const struct outcome *outcome);

/**
 * Writes the output beside the golden file, as GOLDEN.new, or where there is none as the golden
 * file; of a digest nothing. *text becomes what was done, a part of a sentence (heap; null without
 * memory). Returns 0 or -1.
 */
int golden_write(const struct resolved *resolved, char **text, struct fault *fault);

#endif /* CLI_BATCH_ATTEMPT_H */
