/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/golden.h"
#include "cli/batch/resume.h"
#include "cli/file/text.h"
#include "cli/job/execute.h"
#include "cli/report/fingerprint.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "proto/file/file_limits.h"

/*
 * Returns whether a fault is about a file of a job. The code of such a fault is that of any
 * refusal, but its pointer ends in a member that has a path.
 */
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
    case FAULT_NO_ROOM:
    case FAULT_STREAM_ERROR:
    case FAULT_SHUTTING_DOWN:
    case FAULT_CANCELLED: /* cancelled by another client */
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

/* Sets message and pointer from a fault. */
static void describe_fault(struct attempt *attempt, const struct fault *fault)
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

static void describe_difference(struct attempt *attempt, const struct resolved *resolved,
                                const struct outcome *outcome)
{
    struct case_result *result = &attempt->result;
    const char *golden = resolved->expect_path;
    char text[COMPARE_TEXT_MAX], cause[COMPARE_CAUSE_MAX], shown[PRINT_PATH_MAX];
    struct jsonw w;

    difference_expected(&outcome->difference, golden ? print_path(shown, golden) : NULL, text);
    if (asprintf(&result->message, "%s%s", text, difference_cause(&outcome->difference, cause)) < 0)
        result->message = NULL;
    if (asprintf(&result->pointer, "%s/expect", resolved->job->pointer) < 0)
        result->pointer = NULL;
    jsonw_init(&w);
    difference_json(&w, NULL, &outcome->difference);
    const char *json = jsonw_text(&w);
    result->difference = json ? strdup(json) : NULL;
    jsonw_finish(&w);
}

/* Sets reason, status, message and pointer from the outcome of a job that did not pass. */
static void describe(struct attempt *attempt, const struct resolved *resolved,
                     const struct outcome *outcome)
{
    if (outcome->verdict == VERDICT_MISMATCH) {
        set_reason(attempt, CASE_WHY_MISMATCH);
        describe_difference(attempt, resolved, outcome);
        return;
    }
    set_reason(attempt, outcome->verdict == VERDICT_NOT_REFUSED ? CASE_WHY_NOT_REFUSED
                                                                : reason_of(&outcome->fault));
    describe_fault(attempt, &outcome->fault);
}

static void clear_description(struct case_result *result)
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

/* With --update-golden, adds the outcome of another job that does not match its golden file. */
static void describe_further(struct attempt *attempt, const struct resolved *resolved,
                             const struct outcome *outcome)
{
    struct attempt other = {0};

    describe(&other, resolved, outcome);
    const char *message = other.result.message ? other.result.message : "";
    char place[PRINT_PLACE_MAX];
    print_place(place, other.result.pointer ? other.result.pointer : "", message);
    if (*place || *message) {
        append(&attempt->result.message, "; ", place);
        append(&attempt->result.message, "", message);
    }
    case_result_finish(&other.result);
}

/* Writes the golden file of a job that does not match, and continues with the next job. */
static void update(struct attempt *attempt, const struct resolved *resolved,
                   const struct outcome *outcome)
{
    char *text;
    struct fault fault;

    if (attempt->result.status == CASE_UPDATED)
        describe_further(attempt, resolved, outcome);
    else
        describe(attempt, resolved, outcome);
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

/* Called for a job that did not pass, before its files are closed. */
static void on_failure(void *context, const struct resolved *resolved,
                       const struct outcome *outcome)
{
    struct attempt *attempt = context;

    if (cancel_requested()) {
        attempt->over = true;
    } else if (attempt->plan->update_golden && golden_would_help(outcome)) {
        update(attempt, resolved, outcome);
    } else {
        attempt->over = true;
        clear_description(&attempt->result);
        describe(attempt, resolved, outcome);
        if (attempt->plan->keep)
            evidence_take(&attempt->evidence, resolved, &attempt->produced, attempt->buffers,
                          outcome);
    }
}

/* Called for each job that moved its data. */
static void on_moved(void *context, const struct job_file *file, const struct resolved *resolved,
                     struct outcome *outcome)
{
    struct attempt *attempt = context;

    (void)outcome;
    timeline_predict(&attempt->timeline,
                     &(struct job_board_context){.profile = attempt->plan->profile,
                                                 .file = file,
                                                 .buffers = &attempt->places,
                                                 .produced = &attempt->produced},
                     resolved);
}

static void run_job(struct attempt *attempt, struct execution *execution,
                    const struct job_spec *job)
{
    struct outcome outcome = {0};

    execution_run(execution, &attempt->file, job, &outcome);
    if (outcome.moved) {
        attempt->result.bytes += outcome.result.bytes;
        attempt->moved++;
        attempt->result.transfers_ns += outcome.result.ns_moving;
    }
    if (outcome.verdict == VERDICT_REFUSED && exit_code_of(&outcome.fault) == EXIT_CODE_LOST) {
        attempt->end = ATTEMPT_LOST;
        attempt->lost = outcome.fault;
    }
    outcome_finish(&outcome);
}

/* Allocates the buffers of the case. If that fails, the case is over. */
static void begin_jobs(struct attempt *attempt, struct execution *execution)
{
    struct fault fault;

    if (execution_begin(execution, &attempt->file, &fault) == 0)
        return;
    attempt->over = true;
    if (exit_code_of(&fault) == EXIT_CODE_LOST) {
        attempt->end = ATTEMPT_LOST;
        attempt->lost = fault;
    }
    set_reason(attempt, reason_of(&fault));
    describe_fault(attempt, &fault);
}

/* Returns 0, or -1 if the buffers of the case have no place on the board. */
static int begin_prediction(struct attempt *attempt)
{
    const struct target_profile *profile = attempt->plan->profile;
    struct fault fault;

    timeline_init(&attempt->timeline, profile);
    return buffer_places_init(&attempt->places, profile, &attempt->file, &fault);
}

static void run_jobs(struct attempt *attempt, struct daemon_link *link, uint64_t begin_ns)
{
    const struct job_file *file = &attempt->file;
    const struct attempt_plan *plan = attempt->plan;
    struct execution execution = {
        .link = link,
        .produced = &attempt->produced,
        .deadline_ns =
            plan->timeout_ms ? begin_ns + (uint64_t)plan->timeout_ms * CLOCK_NS_PER_MS : 0,
        .profile = plan->profile,
        .failed = on_failure,
        .buffers = {.keep_fds = plan->keep},
        .context = attempt};

    attempt->buffers = &execution.buffers;
    if (plan->profile && begin_prediction(attempt) == 0)
        execution.moved = on_moved;
    begin_jobs(attempt, &execution);
    for (size_t i = 0; i < file->list.count && !attempt->over; i++) {
        if (cancel_requested())
            attempt->over = true;
        else
            run_job(attempt, &execution, &file->list.jobs[file->order[i]]);
    }
    execution_end(&execution);
}

/* Runs the jobs; with a state file, notes which files they read. */
static void run_noting(struct attempt *attempt, struct daemon_link *link, uint64_t begin_ns)
{
    struct contents *contents = attempt->plan->contents;

    if (contents)
        resume_note_inputs(&attempt->result.fingerprint, &attempt->file, contents);
    run_jobs(attempt, link, begin_ns);
    if (contents)
        resume_recheck_inputs(&attempt->result.fingerprint, &attempt->file, contents);
}

/* Reads the job file. Returns 0, or -1 with the result set: the case cannot run. */
static int load(struct attempt *attempt, const struct batch_case *batch_case)
{
    struct text text = {0};
    struct fault fault;
    int status = text_load(&text, batch_case->file, JOB_FILE_BYTES_MAX, true, &fault);

    if (status == 0) {
        attempt->result.fingerprint.job_file = digest64(text.bytes, text.length);
        status = job_file_load_text(&attempt->file, batch_case->file, &text, &fault);
    }
    text_finish(&text);
    if (status == 0)
        return 0;
    bool storage = fault.code == FAULT_IO_ERROR || fault.code == FAULT_INTERNAL;
    set_reason(attempt, storage ? CASE_WHY_STORAGE : CASE_WHY_UNREADABLE);
    describe_fault(attempt, &fault);
    return -1;
}

void attempt_run(struct attempt *attempt, const struct batch_case *batch_case,
                 struct daemon_link *link, const struct attempt_plan *plan)
{
    uint64_t begin_ns = clock_ns();

    *attempt = (struct attempt){
        .plan = plan, .produced = {.memory = true, .without_golden = plan->update_golden}};
    evidence_init(&attempt->evidence);
    attempt->result.status = CASE_PASSED;
    if (load(attempt, batch_case) == 0)
        run_noting(attempt, link, begin_ns);
    else
        attempt->result.fingerprint.known = true; /* its only input is the text of the job file */
    attempt->result.ns = clock_ns() - begin_ns;
    if (plan->profile && attempt->timeline.all.jobs == attempt->moved)
        attempt->result.predicted_ns = cost_ns(plan->profile, attempt->timeline.all.end);
    bool whole = attempt->result.status == CASE_PASSED && !attempt->over;
    if (cancel_requested() && !whole)
        attempt->end = ATTEMPT_INTERRUPTED;
}

void attempt_finish(struct attempt *attempt)
{
    case_result_finish(&attempt->result);
    evidence_finish(&attempt->evidence);
    timeline_finish(&attempt->timeline);
    buffer_places_finish(&attempt->places);
    produced_finish(&attempt->produced);
    job_file_finish(&attempt->file);
}
