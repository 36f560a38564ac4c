/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outcome of a job as plain data, as text and as JSON, and its verdict: the comparison with the
 * job's "expect". One of the outcome_judge_ functions is called at each end of a job; nothing else
 * sets the verdict and the exit code:
 *
 *     refused or failed  -> outcome_judge_failure()
 *     moved              -> outcome_judge_success(), the output is put in place,
 *                           outcome_judge_output()
 *     only planned       -> outcome_judge_plan()
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/compare.h"
#include "cli/job/explained_board.h"
#include "cli/job/resolve.h"
#include "cli/term/exit_code.h"
#include "cli/term/print.h"
#include "proto/wire/job.h"

enum verdict {
    VERDICT_NONE = 0,            /* no verdict yet, or the job succeeded and expects nothing */
    VERDICT_SAME,                /* the output matches the golden file or digest, and parameters */
    VERDICT_MISMATCH,            /* the output does not match: `difference` is filled */
    VERDICT_REFUSED_AS_EXPECTED, /* `fault` is the expected error */
    VERDICT_REFUSED,             /* the job failed or was refused: `fault` is the error */
    VERDICT_NO_GOLDEN,           /* a golden file is missing: `fault` names it */
    VERDICT_NOT_REFUSED          /* the job succeeded, an error was expected: `fault` names it */
};

struct outcome {
    enum exit_code exit;
    enum verdict verdict;
    bool skipped;       /* true: the job was not begun; `fault` is the reason */
    bool validated;     /* true: the job was checked and not run */
    bool described;     /* true: `type`, `src` and `dst` are filled */
    bool moved;         /* true: `result` is filled, and the output file has its final name */
    uint64_t detached;  /* the number of a detached job; 0: the job is not detached */
    bool disconnected;  /* true: the connection is lost, and no other job can run */
    struct fault fault; /* FAULT_NONE after a success, even if the comparison failed */
    mli_element_type type;
    struct npy_header src, dst; /* dst: the whole output file */
    struct job_result result;
    struct difference difference;
    struct board_remarks remarks; /* advice on the addresses on a board, with --profile */
};

void outcome_finish(struct outcome *outcome);

/** Fills `type`, `src` and `dst` from a resolved job. */
void outcome_describe(struct outcome *outcome, const struct resolved *resolved);

/**
 * Judges a job that ended with outcome->fault, whose JSON pointer is relative to the job. `lost`:
 * the connection was lost, which is never the expected error. If another error was expected, the
 * fault's text names both.
 */
void outcome_judge_failure(const struct job_spec *job, bool lost, struct outcome *outcome);

/**
 * Judges a job that succeeded. Returns 0; or -1 with the fault filled if an error was expected: the
 * output must not be put in place then.
 */
int outcome_judge_success(const struct job_spec *job, struct outcome *outcome);

/**
 * Compares the finished output, open at resolved->output, with the golden file or the digest.
 * Returns 0; or -1 with the fault filled if a file cannot be read: the caller then calls
 * outcome_judge_failure().
 */
int outcome_judge_output(struct resolved *resolved, struct outcome *outcome);

/**
 * Compares the open tensor `output` of a resolved job with its golden file, which is open, and
 * finds the cause of a difference. Maps the files of the job. Returns 0 with *difference set, or -1
 * with the fault.
 */
int outcome_find_difference(struct resolved *resolved, struct tensor_file *output,
                            struct difference *difference, struct fault *fault);

/**
 * Returns a sentence if the job compares its elements, but not the quantisation parameters that
 * it has; else null. Static storage.
 */
const char *outcome_remark(const struct job_spec *job);

/** Compares dtype and shape of a planned output with the golden file. */
void outcome_judge_plan(const struct resolved *resolved, struct outcome *outcome);

/* The outcome of a job, printed as lines for people or as an object. */

/** Writes a job's name; for a job without a name, its file, and its index if the file has several
 * jobs. */
void job_report_label(char *out, size_t size, const struct job_file *file,
                      const struct job_spec *job);

/** Prints the outcome of a job that `run` or `submit` carried out. */
void job_report_outcome(const struct print_style *style, const struct job_file *file,
                        const struct job_spec *job, const struct outcome *outcome);

/** Prints the outcome of a job that `validate` checked. */
void job_report_validated(const struct print_style *style, const struct job_file *file,
                          const struct job_spec *job, const struct outcome *outcome);

/** Prints the outcome of a job as one JSON object. */
void job_report_json(const struct job_file *file, const struct job_spec *job,
                     const struct outcome *outcome);
