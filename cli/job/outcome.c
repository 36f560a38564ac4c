/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/outcome.h"

#include <stdio.h>
#include <string.h>

#include "cli/file/regular.h"
#include "cli/term/cancel.h"
#include "proto/file/expectation.h"

void outcome_finish(struct outcome *outcome)
{
    job_result_finish(&outcome->result);
    *outcome = (struct outcome){0};
}

void outcome_describe(struct outcome *outcome, const struct resolved *resolved)
{
    outcome->src = resolved->src.header;
    outcome->dst = resolved->whole.header;
    outcome->type = resolved->wire.src.desc.type;
    outcome->described = true;
}

/*
 * Writes a status and a place, as in "MLI_STATUS_BAD_FUNC_CFG at /cfg/size"; the place may be
 * missing.
 */
enum { ERROR_TEXT_MAX = 64 + FAULT_POINTER_MAX };

static const char *error_text(char out[ERROR_TEXT_MAX], const char *name, const char *pointer)
{
    snprintf(out, ERROR_TEXT_MAX, "%s%s%s", name, pointer && *pointer ? " at " : "",
             pointer ? pointer : "");
    return out;
}

/* Returns whether a cancel or a lost daemon ended the job: neither can be the expected error. */
static bool is_disturbed(const struct fault *fault, bool lost)
{
    return lost || cancel_requested() || fault->code == FAULT_CANCELLED ||
           fault->code == FAULT_STREAM_ERROR;
}

static void complain_other(const struct expectation *expect, struct fault *fault)
{
    /* The fault's text names its place; the pointer is printed only to compare it. */
    bool named = expectation_names(expect, fault);
    const char *pointer = named && fault->has_pointer ? fault->pointer : NULL;
    char wanted[ERROR_TEXT_MAX], got[ERROR_TEXT_MAX];
    mli_status status = fault->status;
    error_text(wanted, expect->error, expect->pointer);
    error_text(got, expectation_error_name(fault), pointer);
    fault_set(fault, fault->code, named ? "/expect/pointer" : "/expect/error",
              "expect.%s: %s expected, %s came: %s", named ? "pointer" : "error", wanted, got,
              fault->text);
    fault->status = status;
}

void outcome_judge_failure(const struct job_spec *job, bool lost, struct outcome *outcome)
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

int outcome_judge_success(const struct job_spec *job, struct outcome *outcome)
{
    char wanted[ERROR_TEXT_MAX];

    if (job->expect.kind != EXPECT_ERROR)
        return 0;
    outcome->verdict = VERDICT_NOT_REFUSED;
    outcome->exit = EXIT_CODE_FAILED;
    return fault_set(&outcome->fault, FAULT_INVALID_PARAMS, "/expect/error",
                     "expect.error: %s expected, but the job succeeded",
                     error_text(wanted, job->expect.error, job->expect.pointer));
}

/* Closes a copy of a tensor file without closing its descriptor, which has another owner. */
static void close_borrowed(struct tensor_file *file)
{
    file->fd = -1;
    tensor_file_close(file);
}

/* Compares also the bytes between elements of two raw files of equal size. */
static int compare_whole_files(const struct resolved *r, struct outcome *outcome)
{
    struct tensor_file output = r->whole, golden = r->expect;

    output.fd = r->output.fd;
    golden.map = NULL; /* r->expect keeps the mapping */
    output.header.data_offset = golden.header.data_offset = 0;
    int status = compare_bytes(&output, &golden, tensor_file_content(&r->whole),
                               &outcome->difference, &outcome->fault);
    close_borrowed(&golden);
    close_borrowed(&output);
    return status;
}

/* Returns whether elements fill the whole file. */
static bool is_dense(const struct tensor_file *file, uint64_t elements)
{
    return elements * file->header.item_size == tensor_file_content(file);
}

/* Maps a tensor that the job has in a file, and describes its elements; a diagnosis is possible
 * without it. A file that is too large for the address space is left out. Returns 0 or -1. */
static int map_input(struct tensor_file *file, struct elements *elements, struct fault *fault)
{
    *elements = (struct elements){.rank = 0};
    if (file->fd < 0 || file->header.rank == 0)
        return 0;
    if (!file->map && tensor_file_map(file, fault))
        return fault->code == FAULT_LIMIT ? 0 : -1;
    *elements = compare_elements(file);
    return 0;
}

/* Finds the cause of a difference from the golden file. */
static int find_cause(struct resolved *r, const struct tensor_file *output,
                      struct difference *difference, struct fault *fault)
{
    static const struct compare_names names = {NULL, "expected"};
    struct elements source, before;
    const struct diagnose_move move = {.source = &source,
                                       .before = &before,
                                       .cfg = &r->wire.common.cfg,
                                       .result_shape = r->result.shape};

    if (map_input(&r->src, &source, fault) || map_input(&r->before, &before, fault) ||
        compare_diagnose(output, &r->expect, &names, &move, difference, fault))
        return -1;
    return tensor_file_check(&r->src, fault) || tensor_file_check(&r->before, fault) ? -1 : 0;
}

int outcome_find_difference(struct resolved *r, struct tensor_file *output,
                            struct difference *difference, struct fault *fault)
{
    if (compare_tensors(output, &r->expect, COMPARE_FIRST, difference, fault))
        return -1;
    return difference->kind == DIFFERENCE_VALUES ? find_cause(r, output, difference, fault) : 0;
}

static int compare_with_golden(struct resolved *r, struct outcome *outcome)
{
    struct difference *difference = &outcome->difference;
    struct tensor_file output = r->whole;

    output.fd = r->output.fd;
    int status = outcome_find_difference(r, &output, difference, &outcome->fault);
    close_borrowed(&output);
    if (status || difference->kind != DIFFERENCE_NONE || r->whole.format != FILE_FORMAT_RAW ||
        r->expect.format != FILE_FORMAT_RAW || is_dense(&r->whole, difference->elements))
        return status;
    return compare_whole_files(r, outcome);
}

/* The golden file is missing only if the caller accepts that (produced.h). */
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
    uint8_t got[SHA256_SIZE];

    if (regular_digest(r->output.fd, got, &outcome->fault))
        return -1;
    if (memcmp(got, wanted, SHA256_SIZE) != 0)
        difference_of_digests(got, wanted, &outcome->difference);
    return 0;
}

static void conclude(struct outcome *outcome)
{
    bool same = outcome->difference.kind == DIFFERENCE_NONE;

    outcome->verdict = same ? VERDICT_SAME : VERDICT_MISMATCH;
    outcome->exit = same ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

int outcome_judge_output(struct resolved *r, struct outcome *outcome)
{
    int status = 0;

    switch (r->job->expect.kind) {
    case EXPECT_NOTHING:
    case EXPECT_ERROR: /* outcome_judge_success() has refused the success */
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
    else
        outcome->difference = (struct difference){0}; /* of bytes that could not all be read */
    return status;
}

void outcome_judge_plan(const struct resolved *resolved, struct outcome *outcome)
{
    if (resolved->job->expect.kind != EXPECT_FILE)
        return;
    compare_outlines(&resolved->whole, &resolved->expect, &outcome->difference);
    if (outcome->difference.kind != DIFFERENCE_NONE)
        conclude(outcome);
}
