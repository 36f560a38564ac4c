/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/attempt.h"
#include "cli/batch/goldens.h"
#include "cli/batch/resume.h"
#include "cli/file/output.h"
#include "cli/file/text.h"
#include "cli/run/execute.h"
#include "cli/tensor/params.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "proto/file/job_spec.h"
#include "proto/file/npy.h"

/* The results of the attempts of a trial. */
struct tally {
    uint32_t passed, attempts;
    struct case_result last; /* the last attempt; only status and the members RESULT_LAST are set */
    bool failed;
    struct attempt failure; /* the first failed attempt */
};

/* Golden files, for --update-golden. */

/* Returns whether a new golden file or digest would make the job pass. */
static bool golden_would_help(const struct outcome *outcome)
{
    return outcome->verdict == VERDICT_MISMATCH || outcome->verdict == VERDICT_NO_GOLDEN;
}

/* Writes the elements of a raw output without gaps, row by row. */
static int write_elements(struct output *golden, const struct tensor_file *whole, uint64_t offset,
                          struct fault *fault)
{
    struct elements rows = compare_elements(whole);
    uint32_t at[TENSOR_RANK_MAX] = {0}, last = rows.rank - 1, count = rows.shape[last];
    const size_t item = whole->header.item_size, row = count * item;
    const int64_t step = rows.strides[last] * (int64_t)item;
    uint8_t *packed = malloc(row);
    int status;

    if (!packed)
        return fault_no_memory(fault);
    rows.shape[last] = 1;
    do {
        const uint8_t *from = elements_at(&rows, at);

        for (uint32_t i = 0; i < count; i++)
            memcpy(packed + i * item, from + (int64_t)i * step, item);
        status = output_write(golden, packed, row, offset, fault);
        offset += row;
    } while (status == 0 && elements_next(&rows, at));
    free(packed);
    return status;
}

static int write_npy(struct output *golden, const struct tensor_file *whole, struct fault *fault)
{
    char bytes[NPY_FORMAT_SIZE];
    struct npy_header header = whole->header;

    header.fortran_order = false;
    if (npy_format(&header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, NULL, "the .npy header is too long");
    if (output_write(golden, bytes, sizeof(bytes), 0, fault))
        return -1;
    return write_elements(golden, whole, sizeof(bytes), fault);
}

/* Writes the output in the format of the golden file: with or without a .npy header. */
static int write_content(struct output *golden, const struct resolved *r, struct fault *fault)
{
    enum file_format format = tensor_spec_format(&r->job->expect.golden);
    bool npy = format == FILE_FORMAT_NPY;
    struct tensor_file whole = r->whole;

    whole.fd = r->output.fd;
    if (format == whole.format)
        return output_copy(golden, whole.fd, (uint64_t)whole.stat.st_size, fault);
    if (tensor_file_map(&whole, fault))
        return -1;
    int status = npy ? write_npy(golden, &whole, fault)
                     : output_write(golden, whole.data, tensor_file_content(&whole), 0, fault);
    if (status == 0)
        status = tensor_file_check(&whole, fault);
    whole.fd = -1; /* do not close whole.fd: the output owns it */
    tensor_file_close(&whole);
    return status;
}

/* Only a regular file is replaced, never the target of a symbolic link. */
static int check_place(const char *path, struct fault *fault)
{
    struct stat status;
    char shown[PRINT_PATH_MAX];

    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s cannot be written: it exists and is not a regular file",
                         print_path(shown, path));
    return 0;
}

/* Writes the golden file `path`: the elements of the output, or with `params` its parameters. */
static int write_file(const struct resolved *r, const char *params, const char *path, bool fresh,
                      struct fault *fault)
{
    struct output golden;
    int status = check_place(path, fault);

    if (status)
        return -1;
    if (output_init(&golden, path, NULL, fault) ||
        (params ? output_write(&golden, params, strlen(params), 0, fault)
                : write_content(&golden, r, fault)) ||
        output_commit_synced(&golden, fresh, fault))
        status = -1;
    output_finish(&golden);
    return status;
}

/*
 * Writes GOLDEN.new, or the golden file `name` if this does not exist (`fresh`). *text becomes the
 * part of a message that reports the file: a string on the heap, or NULL if out of memory. Returns
 * 0 or -1.
 */
static int golden_write(const struct resolved *r, const char *params, const char *name, bool fresh,
                        char **text, struct fault *fault)
{
    char *path = NULL, shown[PRINT_PATH_MAX];
    struct fault ignored;

    if (asprintf(&path, "%s%s", name, fresh ? "" : ".new") < 0)
        return fault_no_memory(fault);
    int status = write_file(r, params, path, fresh, fault);
    const char *done = "written to", *next = fresh ? "" : "; rename that file to accept the result";
    if (status && fresh && check_place(path, &ignored) == 0 && access(path, F_OK) == 0) {
        status = 0;
        done = "another case has just written";
        next = "; run again to compare";
    }
    if (status == 0 && asprintf(text, "%s %s%s", done, print_path(shown, path), next) < 0)
        *text = NULL;
    free(path);
    return status;
}

/* Accepts the elements of a result: writes them, unless a digest is expected. */
static int accept_elements(const struct resolved *r, char **text, struct fault *fault)
{
    const enum file_format format = tensor_spec_format(&r->job->expect.golden);

    if (r->job->expect.kind != EXPECT_FILE) {
        *text = strdup("to accept the result, put the digest after \"got\" into the job file");
        return 0;
    }
    if (file_format_is_archive(format))
        return fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "a golden tensor in a .%s file cannot be updated; give it a file of its own",
            file_format_word(format));
    return golden_write(r, NULL, r->expect_path, r->expect.fd < 0, text, fault);
}

/* Accepts the parameters of a result: writes them, unless the job file has the expected ones. */
static int accept_params(const struct resolved *r, const struct tensor_desc *got, char **text,
                         struct fault *fault)
{
    char *params = params_text(got);
    int status = 0;

    if (!params)
        return fault_no_memory(fault);
    if (r->wanted_path) {
        status = golden_write(r, params, r->wanted_path, !r->has_wanted, text, fault);
    } else if (asprintf(text, "to accept the parameters, put %.*s into expect.params",
                        (int)strcspn(params, "\n"), params) < 0) {
        *text = NULL;
        status = fault_no_memory(fault);
    }
    free(params);
    return status;
}

/* The result of an attempt. */

/* Returns whether a fault concerns a file of a job. The fault's code is the same for every
 * refusal, but its pointer ends in a member that names a file or a tensor in a file. */
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

    result->message = strdup(fault->text);
    result->line = fault->line;
    result->column = fault->column;
    if (fault->has_pointer)
        result->pointer = strdup(fault->pointer);
}

static void describe_difference(struct attempt *attempt, const struct resolved *resolved,
                                const struct outcome *outcome)
{
    struct case_result *result = &attempt->result;
    const bool params = outcome->difference.kind == DIFFERENCE_PARAMS;
    const char *golden = params ? resolved->wanted_path : resolved->expect_path;
    char text[COMPARE_TEXT_MAX], cause[COMPARE_CAUSE_MAX], shown[PRINT_PATH_MAX];
    struct jsonw w;

    difference_text(&outcome->difference, NULL, golden ? print_path(shown, golden) : NULL, text);
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
    result->line = result->column = 0;
}

static void append(char **message, const char *between, const char *more)
{
    char *joined = NULL;

    if (*message && asprintf(&joined, "%s%s%s", *message, between, more) >= 0) {
        free(*message);
        *message = joined;
    }
}

/* With --update-golden, adds to the message another job whose output does not match. */
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

/* Returns whether the elements of a result differ from the expected ones, which may be missing. */
static bool elements_differ(const struct resolved *r, const struct outcome *outcome)
{
    return (r->job->expect.kind == EXPECT_FILE && r->expect.fd < 0) ||
           (outcome->difference.kind != DIFFERENCE_NONE &&
            outcome->difference.kind != DIFFERENCE_PARAMS);
}

/* Returns whether the parameters of a result differ from the expected ones. */
static bool params_differ(const struct resolved *r, const struct outcome *outcome)
{
    struct difference difference;

    if (!r->has_wanted)
        return r->wanted_path != NULL;
    compare_params(&outcome->result.dst, &r->wanted, &difference);
    return difference.kind != DIFFERENCE_NONE;
}

/* Writes the golden files of a job whose result does not match them; the next job then runs. */
static void update(struct attempt *attempt, const struct resolved *resolved,
                   const struct outcome *outcome)
{
    char *texts[2] = {NULL, NULL};
    struct fault fault;

    if (attempt->result.status == CASE_UPDATED)
        describe_further(attempt, resolved, outcome);
    else
        describe(attempt, resolved, outcome);
    attempt->result.status = CASE_UPDATED;
    if ((elements_differ(resolved, outcome) && accept_elements(resolved, &texts[0], &fault)) ||
        (params_differ(resolved, outcome) &&
         accept_params(resolved, &outcome->result.dst, &texts[1], &fault))) {
        set_reason(attempt, CASE_WHY_STORAGE);
        append(&attempt->result.message, "; ", fault.text);
        attempt->over = true;
    }
    for (int i = 0; i < 2; i++) {
        if (texts[i] && !attempt->over)
            append(&attempt->result.message, "; ", texts[i]);
        free(texts[i]);
    }
}

/* An attempt. */

/* Adds GOLDEN.new to the message, if --update-golden has written this file earlier. */
static void name_new(struct case_result *result, const char *golden)
{
    char *path = golden_new(golden), shown[PRINT_PATH_MAX];

    if (path) {
        append(&result->message, "; ", print_path(shown, path));
        append(&result->message, "", " has the result of an earlier --update-golden");
    }
    free(path);
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
        name_new(&attempt->result, resolved->expect_path);
        name_new(&attempt->result, resolved->wanted_path);
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
        if (outcome_remark(job) && !attempt->result.remark)
            attempt->result.remark = strdup(outcome_remark(job));
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
            run_job(attempt, &execution, &file->list.jobs[file->list.order[i]]);
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

/* Sets the status that the case has if its jobs succeed. Returns 0, or -1 with the result set: no
 * job has "expect", which --require-expect forbids. */
static int check_expect(struct attempt *attempt)
{
    const struct job_list *list = &attempt->file.list;
    size_t silent = 0;
    struct fault fault;

    while (silent < list->count && list->jobs[silent].expect.kind == EXPECT_NOTHING)
        silent++;
    attempt->result.status = silent < list->count ? CASE_PASSED : CASE_RAN;
    if (silent < list->count || !attempt->plan->require_expect)
        return 0;
    set_reason(attempt, CASE_WHY_NO_EXPECT);
    fault_set(&fault, FAULT_INVALID_PARAMS, NULL,
              "no job has \"expect\", which --require-expect requires");
    describe_fault(attempt, &fault);
    return -1;
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
        return check_expect(attempt);
    bool storage = fault.code == FAULT_IO_ERROR || fault.code == FAULT_INTERNAL;
    set_reason(attempt, storage ? CASE_WHY_STORAGE : CASE_WHY_UNREADABLE);
    describe_fault(attempt, &fault);
    return -1;
}

/* Runs the case over `link`. Afterwards the connection may be lost even if the attempt ended. */
static void attempt_run(struct attempt *attempt, const struct batch_case *batch_case,
                        struct daemon_link *link, const struct attempt_plan *plan)
{
    uint64_t begin_ns = clock_ns();

    *attempt = (struct attempt){
        .plan = plan, .produced = {.memory = true, .without_golden = plan->update_golden}};
    evidence_init(&attempt->evidence);
    if (load(attempt, batch_case) == 0)
        run_noting(attempt, link, begin_ns);
    else
        attempt->result.fingerprint.known = true; /* no job ran: the job file is the only input */
    attempt->result.ns = clock_ns() - begin_ns;
    if (plan->profile && attempt->timeline.all.jobs == attempt->moved)
        attempt->result.predicted_ns = cost_ns(plan->profile, attempt->timeline.all.end);
    bool whole = case_status_is_good(attempt->result.status, false) && !attempt->over;
    if (cancel_requested() && !whole)
        attempt->end = ATTEMPT_INTERRUPTED;
    attempt->has_new = whole && goldens_have_new(&attempt->file);
}

static bool attempt_passed(const struct attempt *attempt)
{
    return attempt->end == ATTEMPT_ENDED && case_status_is_good(attempt->result.status, false);
}

static void attempt_finish(struct attempt *attempt)
{
    case_result_finish(&attempt->result);
    evidence_finish(&attempt->evidence);
    timeline_finish(&attempt->timeline);
    buffer_places_finish(&attempt->places);
    produced_finish(&attempt->produced);
    job_file_finish(&attempt->file);
}

/* A trial: all attempts at one case until its verdict. */

/* Connects the link if necessary. Returns 0, or -1 with trial->end set. */
static int connect(struct trial *trial, const struct connector *connector, struct daemon_link *link)
{
    if (daemon_link_connected(link))
        return 0;
    daemon_link_finish(link);
    if (connector_open(connector, link, &trial->fault) == 0)
        return 0;
    trial->end = cancel_requested() ? ATTEMPT_INTERRUPTED : ATTEMPT_LOST;
    return -1;
}

/* Adds the path of the kept result to the message. */
static void add_given(struct case_result *result, const char *given)
{
    char *message = NULL;

    if (!result->message || asprintf(&message, "%s" RESULT_GIVEN "%s", result->message, given) < 0)
        return;
    free(result->message);
    result->message = message;
}

static void keep(struct trial *trial, const struct batch_case *batch_case,
                 const struct trial_plan *plan, const struct attempt *failure)
{
    enum case_status status = trial->result.status;

    if (!plan->keeping.directory || !failure->evidence.job ||
        (status != CASE_FAILED && status != CASE_ERROR))
        return;
    struct kept kept;
    trial->complains =
        kept_save(&plan->keeping, batch_case->name, &failure->evidence, &kept, &trial->fault) != 0;
    trial->result.kept = kept.job;
    if (kept.job)
        trial->result.rerun_command = connector_rerun_command(plan->options, kept.job);
    if (kept.given && trial->result.reason == CASE_WHY_MISMATCH)
        add_given(&trial->result, kept.given);
    free(kept.given);
    /* After ^C give no result: the next run then runs the case again and keeps its files. */
    if (trial->complains && cancel_requested())
        trial->end = ATTEMPT_INTERRUPTED;
}

/* Adds an attempt to the tally, which then owns its members. Returns whether another attempt
 * follows. */
static bool count(struct tally *tally, const struct trial_plan *plan, struct attempt *attempt)
{
    uint32_t failures = ++tally->attempts - tally->passed;

    tally->last.status = attempt->result.status;
    case_result_exchange(&tally->last, &attempt->result, RESULT_LAST);
    if (attempt_passed(attempt)) {
        attempt_finish(attempt);
        return ++tally->passed < plan->repeat;
    }
    if (tally->failed) {
        attempt_finish(attempt);
    } else {
        tally->failed = true;
        tally->failure = *attempt;
    }
    return failures <= plan->retries;
}

static void attempt_all(struct trial *trial, struct tally *tally,
                        const struct batch_case *batch_case, const struct trial_plan *plan,
                        const struct connector *connector, struct daemon_link *link)
{
    struct attempt attempt;

    do {
        if (connect(trial, connector, link))
            return;
        if (plan->repeat_now)
            atomic_store_explicit(plan->repeat_now, tally->passed + 1, memory_order_relaxed);
        attempt_run(&attempt, batch_case, link, &plan->attempt);
        trial->end = attempt.end;
        trial->has_new |= attempt.has_new;
        if (attempt.end != ATTEMPT_ENDED) {
            trial->fault = attempt.lost;
            attempt_finish(&attempt);
            return;
        }
    } while (count(tally, plan, &attempt));
}

static void conclude(struct trial *trial, struct tally *tally, const struct batch_case *batch_case,
                     const struct trial_plan *plan)
{
    struct case_result *result = &trial->result;

    result->name = strdup(batch_case->name);
    result->file = strdup(batch_case->file);
    if (!result->name || !result->file) {
        trial->end = ATTEMPT_LOST;
        fault_no_memory(&trial->fault);
        return;
    }
    result->status = tally->last.status;
    result->attempts = tally->attempts;
    case_result_exchange(result, &tally->last, RESULT_LAST);
    result->fingerprint.setup = plan->setup;
    if (batch_case->rerun_reason)
        result->rerun_reason = strdup(batch_case->rerun_reason);
    if (batch_case->verdict) {
        result->status = CASE_ERROR;
        result->reason = batch_case->reason;
        result->message = strdup(batch_case->verdict);
    }
    if (!tally->failed)
        return;
    result->status = tally->passed == plan->repeat ? CASE_FLAKY : tally->failure.result.status;
    case_result_exchange(result, &tally->failure.result, RESULT_FAILURE);
    keep(trial, batch_case, plan, &tally->failure);
}

void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct daemon_link *link)
{
    struct tally tally = {0};

    *trial = (struct trial){.end = ATTEMPT_ENDED};
    if (!batch_case->verdict)
        attempt_all(trial, &tally, batch_case, plan, connector, link);
    if (trial->end == ATTEMPT_ENDED)
        conclude(trial, &tally, batch_case, plan);
    if (tally.failed)
        attempt_finish(&tally.failure);
    case_result_finish(&tally.last);
}
