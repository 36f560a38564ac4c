/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge.h"

#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "expectation.h"
#include "file_digest.h"

/* "MLI_STATUS_BAD_FUNC_CFG at /cfg/size", as far as there is a place. */
enum { ERROR_TEXT_MAX = 64 + FAULT_POINTER_MAX };

static const char *error_text(char out[ERROR_TEXT_MAX], const char *name, const char *pointer)
{
    snprintf(out, ERROR_TEXT_MAX, "%s%s%s", name, pointer && *pointer ? " at " : "",
             pointer ? pointer : "");
    return out;
}

/* Whoever cancels, and a daemon that goes away, are no property of the job. */
static bool is_disturbed(const struct fault *fault, bool lost)
{
    return lost || cancel_requested() || fault->code == FAULT_CANCELLED ||
           fault->code == FAULT_STREAM_ERROR;
}

static void complain_other(const struct expectation *expect, struct fault *fault)
{
    bool named = expectation_names(expect, fault);
    const char *pointer = fault->has_pointer ? fault->pointer : NULL;
    char wanted[ERROR_TEXT_MAX], got[ERROR_TEXT_MAX];
    mli_status status = fault->status;
    error_text(wanted, expect->error, expect->pointer);
    error_text(got, expectation_error_name(fault), pointer);
    fault_set(fault, fault->code, named ? "/expect/pointer" : "/expect/error",
              "expect.%s: %s expected, %s came: %s", named ? "pointer" : "error", wanted, got,
              fault->text);
    fault->status = status;
}

void judge_failure(const struct job *job, bool lost, struct outcome *outcome)
{
    const struct expectation *expect = &job->expect;
    struct fault *fault = &outcome->fault;
    outcome->verdict = VERDICT_REFUSED;
    outcome->exit = exit_code_of(fault);
    if (expect->kind != EXPECT_ERROR || is_disturbed(fault, lost))
        return;
    if (expectation_names(expect, fault) && expectation_points_at(expect, fault)) {
        outcome->verdict = VERDICT_REFUSED_AS_EXPECTED;
        outcome->exit = EXIT_CODE_DONE;
        return;
    }
    complain_other(expect, fault);
    outcome->exit = EXIT_CODE_FAILED;
}

int judge_success(const struct job *job, struct outcome *outcome)
{
    char wanted[ERROR_TEXT_MAX];
    if (job->expect.kind != EXPECT_ERROR)
        return 0;
    outcome->verdict = VERDICT_NOT_REFUSED;
    outcome->exit = EXIT_CODE_FAILED;
    return fault_set(&outcome->fault, FAULT_INVALID_PARAMS, "/expect/error",
                     "expect.error: %s expected, and the job was done without an error",
                     error_text(wanted, job->expect.error, job->expect.pointer));
}

static int compare_with_golden(struct resolved *r, struct outcome *outcome)
{
    struct tensor_file output = r->whole;
    output.fd = r->output.fd;
    int status = compare_tensors(&output, &r->expect, &outcome->difference, &outcome->fault);
    output.fd = -1; /* stays r->output's */
    tensor_file_close(&output);
    return status;
}

/* Only where the caller has asked to go on without it. */
static int complain_missing(const struct resolved *r, struct outcome *outcome)
{
    char shown[PRINT_PATH_MAX];
    outcome->verdict = VERDICT_NO_GOLDEN;
    outcome->exit = EXIT_CODE_FAILED;
    fault_set(&outcome->fault, FAULT_BAD_DESCRIPTOR, "/expect/file",
              "expect.file: %s: there is no such file", print_path(shown, r->expect_path));
    return 0;
}

static int compare_digests(const struct resolved *r, struct outcome *outcome)
{
    const uint8_t *wanted = r->job->expect.digest;
    uint8_t got[DIGEST_SIZE];
    if (file_digest(r->output.fd, got, &outcome->fault))
        return -1;
    if (memcmp(got, wanted, DIGEST_SIZE) != 0)
        difference_of_digests(got, wanted, &outcome->difference);
    return 0;
}

static void conclude(struct outcome *outcome)
{
    bool same = outcome->difference.kind == DIFFERENCE_NONE;
    outcome->verdict = same ? VERDICT_SAME : VERDICT_MISMATCH;
    outcome->exit = same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

int judge_output(struct resolved *r, struct outcome *outcome)
{
    int status = 0;
    switch (r->job->expect.kind) {
    case EXPECT_NOTHING:
    case EXPECT_ERROR: /* judge_success() has said that it did not come */
        return 0;
    case EXPECT_FILE:
        if (r->expect.fd < 0)
            return complain_missing(r, outcome);
        status = compare_with_golden(r, outcome);
        break;
    case EXPECT_DIGEST:
        status = compare_digests(r, outcome);
        break;
    }
    if (status == 0)
        conclude(outcome);
    return status;
}

void judge_plan(const struct resolved *resolved, struct outcome *outcome)
{
    if (resolved->job->expect.kind != EXPECT_FILE)
        return;
    compare_outlines(&resolved->whole, &resolved->expect, &outcome->difference);
    if (outcome->difference.kind != DIFFERENCE_NONE)
        conclude(outcome);
}
