/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/depends.h"
#include "cli/batch/digest.h"
#include "cli/batch/golden.h"
#include "cli/file/text.h"
#include "cli/job/execute.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ms.h"
#include "cli/term/print.h"
#include "proto/bounds.h"

/* What nobody can tell by the code alone: files of the job are named in the fault's place. */
static bool is_about_a_file(const struct fault *fault)
{
    const char *last = fault->has_pointer ? strrchr(fault->pointer, '/') : NULL;
    return last && (strcmp(last, "/file") == 0 || strcmp(last, "/tensor") == 0 ||
                    strcmp(last, "/params") == 0);
}

static enum case_reason reason_of(const struct fault *fault)
{
    switch (fault->code) {
    case FAULT_IO_ERROR:
    case FAULT_INTERNAL:
        return CASE_WHY_STORAGE;
    case FAULT_TIMED_OUT:
        return CASE_WHY_TIMEOUT;
    case FAULT_LIMIT:
    case FAULT_STREAM_ERROR:
    case FAULT_SHUTTING_DOWN:
    case FAULT_CANCELLED: /* by somebody else */
    case FAULT_FORBIDDEN:
    case FAULT_METHOD_NOT_FOUND:
        return CASE_WHY_SERVICE;
    case FAULT_DMA_ERROR:
    case FAULT_CHANNEL_STUCK:
        return CASE_WHY_CHANNEL;
    case FAULT_BAD_DESCRIPTOR:
        return CASE_WHY_UNREADABLE;
    default:
        return is_about_a_file(fault) ? CASE_WHY_UNREADABLE : CASE_WHY_REFUSED;
    }
}

static void set_reason(struct attempt *attempt, enum case_reason reason)
{
    attempt->result.reason = reason;
    attempt->result.status = case_reason_is_error(reason) ? CASE_ERROR : CASE_FAILED;
}

/* The place of the fault in the job file, and its sentence. */
static void tell_fault(struct attempt *attempt, const struct fault *fault)
{
    struct case_result *result = &attempt->result;
    if (fault->line) {
        if (asprintf(&result->message, "line %u, column %u: %s", fault->line, fault->column,
                     fault->text) < 0)
            result->message = NULL;
    } else {
        result->message = strdup(fault->text);
    }
    if (fault->has_pointer)
        result->pointer = strdup(fault->pointer);
}

static void tell_difference(struct attempt *attempt, const struct resolved *resolved,
                            const struct outcome *outcome)
{
    struct case_result *result = &attempt->result;
    const char *golden = resolved->expect_path;
    char text[COMPARE_TEXT_MAX], shown[PRINT_PATH_MAX];
    struct jsonw w;
    difference_expected(&outcome->difference, golden ? print_path(shown, golden) : NULL, text);
    result->message = strdup(text);
    if (asprintf(&result->pointer, "%s/expect", resolved->job->pointer) < 0)
        result->pointer = NULL;
    jsonw_init(&w);
    difference_json(&w, NULL, &outcome->difference);
    const char *json = jsonw_text(&w);
    result->difference = json ? strdup(json) : NULL;
    jsonw_finish(&w);
}

static void tell(struct attempt *attempt, const struct resolved *resolved,
                 const struct outcome *outcome)
{
    if (outcome->verdict == VERDICT_MISMATCH) {
        set_reason(attempt, CASE_WHY_MISMATCH);
        tell_difference(attempt, resolved, outcome);
        return;
    }
    set_reason(attempt, outcome->verdict == VERDICT_NOT_REFUSED ? CASE_WHY_NOT_REFUSED
                                                                : reason_of(&outcome->fault));
    tell_fault(attempt, &outcome->fault);
}

static void untell(struct case_result *result)
{
    free(result->message);
    free(result->pointer);
    free(result->difference);
    result->message = result->pointer = result->difference = NULL;
}

static void append(char **message, const char *between, const char *more)
{
    char *joined = NULL;
    if (*message && asprintf(&joined, "%s%s%s", *message, between, more) >= 0) {
        free(*message);
        *message = joined;
    }
}

/* A further job of a case whose golden files are updated. */
static void tell_more(struct attempt *attempt, const struct resolved *resolved,
                      const struct outcome *outcome)
{
    struct attempt other = {0};
    tell(&other, resolved, outcome);
    const char *pointer = other.result.pointer;
    if (pointer)
        append(&attempt->result.message, "; ", pointer);
    if (other.result.message)
        append(&attempt->result.message, pointer ? ": " : "; ", other.result.message);
    case_result_finish(&other.result);
}

static void update(struct attempt *attempt, const struct resolved *resolved,
                   const struct outcome *outcome)
{
    char *text;
    struct fault fault;
    if (attempt->result.status == CASE_UPDATED)
        tell_more(attempt, resolved, outcome);
    else
        tell(attempt, resolved, outcome);
    attempt->result.status = CASE_UPDATED;
    if (golden_write(resolved, &text, &fault)) {
        set_reason(attempt, CASE_WHY_STORAGE);
        append(&attempt->result.message, "; ", fault.text);
        attempt->over = true;
    } else if (text) {
        append(&attempt->result.message, "; ", text);
        free(text);
    }
}

/* A job is not as expected, and everything of it is still open. */
static void on_failure(void *context, const struct resolved *resolved,
                       const struct outcome *outcome)
{
    struct attempt *attempt = context;
    if (cancel_requested()) {
        attempt->over = true;
    } else if (attempt->plan->update_golden && golden_would_do(outcome)) {
        update(attempt, resolved, outcome);
    } else {
        attempt->over = true;
        untell(&attempt->result);
        tell(attempt, resolved, outcome);
        if (attempt->plan->keep)
            evidence_take(&attempt->evidence, resolved, &attempt->produced, outcome);
    }
}

static void run_job(struct attempt *attempt, struct execution *execution, const struct job *job)
{
    struct outcome outcome = {0};
    execution_run(execution, &attempt->file, job, &outcome);
    if (outcome.moved)
        attempt->result.bytes += outcome.result.bytes;
    if (outcome.verdict == VERDICT_REFUSED && exit_code_of(&outcome.fault) == EXIT_CODE_LOST) {
        attempt->end = ATTEMPT_LOST;
        attempt->lost = outcome.fault;
    }
    outcome_finish(&outcome);
}

static void run_jobs(struct attempt *attempt, struct client *client, uint64_t begin_ns)
{
    const struct job_file *file = &attempt->file;
    const struct attempt_plan *plan = attempt->plan;
    struct execution execution = {
        .client = client,
        .produced = &attempt->produced,
        .deadline_ns =
            plan->timeout_ms ? begin_ns + (uint64_t)plan->timeout_ms * CLOCK_NS_PER_MS : 0,
        .failed = on_failure,
        .context = attempt};
    for (size_t i = 0; i < file->list.count && !attempt->over; i++) {
        if (cancel_requested())
            attempt->over = true;
        else
            run_job(attempt, &execution, &file->list.jobs[file->order[i]]);
    }
}

/* Runs the jobs, and notes which files they read. */
static void run_noting(struct attempt *attempt, struct client *client, uint64_t begin_ns)
{
    struct contents *contents = attempt->plan->contents;
    if (contents)
        depends_begin(&attempt->result.basis, &attempt->file, contents);
    run_jobs(attempt, client, begin_ns);
    if (contents)
        depends_end(&attempt->result.basis, &attempt->file, contents);
}

/* A job file that is not read is told by the reason that it cannot be. */
static int load(struct attempt *attempt, const struct batch_case *batch_case)
{
    struct text text = {0};
    struct fault fault;
    int status = text_load(&text, batch_case->file, JOB_FILE_BYTES_MAX, true, &fault);
    if (status == 0) {
        attempt->result.fingerprint = digest64(text.bytes, text.length);
        status = job_file_load_text(&attempt->file, batch_case->file, &text, &fault);
    }
    text_finish(&text);
    if (status == 0)
        return 0;
    bool storage = fault.code == FAULT_IO_ERROR || fault.code == FAULT_INTERNAL;
    set_reason(attempt, storage ? CASE_WHY_STORAGE : CASE_WHY_UNREADABLE);
    tell_fault(attempt, &fault);
    return -1;
}

void attempt_run(struct attempt *attempt, const struct batch_case *batch_case,
                 struct client *client, const struct attempt_plan *plan)
{
    uint64_t begin_ns = clock_ns();
    *attempt = (struct attempt){
        .plan = plan, .produced = {.memory = true, .without_golden = plan->update_golden}};
    evidence_init(&attempt->evidence);
    attempt->result.status = CASE_PASSED;
    if (load(attempt, batch_case) == 0)
        run_noting(attempt, client, begin_ns);
    else
        attempt->result.basis.known = true; /* it depends on its text alone */
    attempt->result.ns = clock_ns() - begin_ns;
    bool whole = attempt->result.status == CASE_PASSED && !attempt->over;
    if (cancel_requested() && !whole)
        attempt->end = ATTEMPT_INTERRUPTED;
}

void attempt_finish(struct attempt *attempt)
{
    case_result_finish(&attempt->result);
    evidence_finish(&attempt->evidence);
    produced_finish(&attempt->produced);
    job_file_finish(&attempt->file);
}
