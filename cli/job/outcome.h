/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of a job, as plain data. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/exit_code.h"
#include "cli/job/resolve.h"
#include "cli/tensor/compare.h"
#include "proto/wire/job_result.h"

/* What came of a job, held against its "expect"; judge.h fills it. */
enum verdict {
    VERDICT_NONE = 0,            /* it succeeded, and nothing was expected; or nobody has judged */
    VERDICT_SAME,                /* as the golden file or the digest */
    VERDICT_MISMATCH,            /* not as them: `difference` is filled */
    VERDICT_REFUSED_AS_EXPECTED, /* `fault` is the error that was expected */
    VERDICT_REFUSED,             /* it failed or was refused: `fault` says with what */
    VERDICT_NO_GOLDEN,           /* there is nothing to compare with: `fault` says so */
    VERDICT_NOT_REFUSED          /* an error was expected and did not come: `fault` says so */
};

struct outcome {
    enum exit_code exit;
    enum verdict verdict;
    bool skipped;       /* never begun: `fault` says what kept it */
    bool validated;     /* only looked at */
    bool described;     /* `type`, `src` and `dst` are filled */
    bool moved;         /* `result` is filled, the output is in place */
    uint64_t detached;  /* the number of a job that is not waited for; 0: none */
    bool disconnected;  /* the connection is gone, no other job can run */
    struct fault fault; /* FAULT_NONE where nothing went wrong, or only the comparison */
    mli_element_type type;
    struct npy_header src, dst; /* dst: the whole output file */
    struct job_result result;
    struct difference difference;
};

void outcome_finish(struct outcome *outcome);

/** Fills what a resolved job tells of itself. */
void outcome_describe(struct outcome *outcome, const struct resolved *resolved);

#endif /* CLI_OUTCOME_H */
