/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job/outcome.h"
#include "cli/run/sequence.h"
#include "cli/term/cancel.h"

/* The result of a job, for the later jobs of the file. */
struct mark {
    enum exit_code exit;
    size_t failed; /* index of the failed job: this job or a job that it needs; valid if exit is not
                      DONE */
    char *why;     /* why this job failed; null: done, skipped, or no memory */
};

/* State of the sequence across its files. */
struct progress {
    enum exit_code exit; /* the first exit code that is not DONE */
    bool stopped;        /* true: no further job begins */
    size_t not_run;      /* number of jobs that were not begun because of `stopped` */
    size_t skipped;      /* number of jobs that were skipped after a failed job */
};

enum { SKIPS_SHOWN = 10 /* maximum number of skipped jobs that are printed */ };

static enum exit_code load_failure(const struct sequence *sequence, const char *path,
                                   struct fault *fault)
{
    /* A job file that exceeds a limit is invalid. */
    if (fault->code == FAULT_LIMIT)
        fault->code = FAULT_INVALID_PARAMS;
    return print_failure(&sequence->style, job_file_label(path), fault);
}

static bool names_stdin_twice(const struct options *options)
{
    size_t count = 0;

    for (size_t i = 0; i < options->argument_count; i++)
        count += strcmp(options->arguments[i], "-") == 0;
    return count > 1;
}

enum exit_code sequence_init(struct sequence *sequence, const struct options *options)
{
    *sequence = (struct sequence){.style = options_style(options),
                                  .fail_fast = options_get(options, "fail-fast") != NULL};
    if (options->argument_count == 0)
        return print_invalid("no job file is given; `-` is standard input");
    if (names_stdin_twice(options))
        return print_invalid("`-` is given twice: standard input can be read only once");
    sequence->files = calloc(options->argument_count, sizeof(*sequence->files));
    if (!sequence->files)
        return print_no_memory();
    enum exit_code result = EXIT_CODE_DONE;
    for (size_t i = 0; i < options->argument_count && !cancel_requested(); i++) {
        struct fault fault;
        const char *path = options->arguments[i];
        enum exit_code code = EXIT_CODE_DONE;
        if (job_file_load(&sequence->files[sequence->file_count], path, &fault))
            code = load_failure(sequence, path, &fault);
        else
            sequence->file_count++;
        if (result == EXIT_CODE_DONE)
            result = code;
    }
    return result;
}

void sequence_finish(struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->file_count; i++)
        job_file_finish(&sequence->files[i]);
    free(sequence->files);
    *sequence = (struct sequence){0};
}

uint32_t sequence_channels(const struct sequence *sequence)
{
    uint32_t most = 1;

    for (size_t i = 0; i < sequence->file_count; i++) {
        const struct job_list *list = &sequence->files[i].list;
        for (size_t k = 0; k < list->count; k++) {
            if (list->jobs[k].common.channels > most)
                most = list->jobs[k].common.channels;
        }
    }
    return most;
}

/*
 * Says why a job is skipped after a predecessor: the predecessor failed, or was itself skipped
 * after a job that failed.
 */
static void explain_skip(struct fault *fault, const struct job_file *file, size_t index, size_t k,
                         const struct mark *marks)
{
    const struct job_spec *job = &file->list.jobs[index];
    const size_t before = file->list.jobs[index].before[k], failed = marks[before].failed;
    char pointer[64], shown[JOB_SHOWN_MAX];

    snprintf(pointer, sizeof(pointer), "%s/after/%zu", job->pointer, k);
    if (failed == before)
        fault_set(fault, FAULT_CANCELLED, pointer, "after[%zu]: not run, because \"%s\" failed: %s",
                  k, job->after[k], marks[failed].why ? marks[failed].why : "see its message");
    else
        fault_set(fault, FAULT_CANCELLED, pointer,
                  "after[%zu]: not run, because \"%s\" was not run after %s failed", k,
                  job->after[k], job_shown(shown, &file->list.jobs[failed]));
}

/* Says that the tensor of which a job writes a part has not been made. */
static void explain_missing(struct fault *fault, const struct job_file *file, size_t index,
                            size_t maker)
{
    char pointer[64], shown[JOB_SHOWN_MAX];

    snprintf(pointer, sizeof(pointer), "%s/dst", file->list.jobs[index].pointer);
    fault_set(fault, FAULT_CANCELLED, pointer,
              "dst: not run, because the job %s, which makes the tensor, did not succeed",
              job_shown(shown, &file->list.jobs[maker]));
}

static void skip(struct outcome *outcome, struct mark *marks, size_t index, size_t before)
{
    outcome->exit = marks[before].exit;
    outcome->skipped = true;
    marks[index].failed = marks[before].failed;
}

/* Returns the job that makes the tensor of which job `index` writes a part; SIZE_MAX: no other job
 * makes it. */
static size_t maker_of(const struct job_file *file, size_t index)
{
    const size_t first = file->output ? file->output[index] : SIZE_MAX;

    return first != SIZE_MAX && first != index && tensor_spec_makes(&file->list.jobs[first].dst)
               ? first
               : SIZE_MAX;
}

/* Skips a job after a failed predecessor, with the exit code of the job that failed. A job that
 * makes a tensor is a predecessor of the jobs that write parts of this tensor. */
static bool skip_dependant(const struct job_file *file, size_t index, struct mark *marks,
                           struct outcome *outcome)
{
    const size_t maker = maker_of(file, index);

    for (size_t k = 0; k < file->list.jobs[index].after_count; k++) {
        const size_t before = file->list.jobs[index].before[k];

        if (marks[before].exit == EXIT_CODE_DONE)
            continue;
        explain_skip(&outcome->fault, file, index, k, marks);
        skip(outcome, marks, index, before);
        return true;
    }
    if (maker == SIZE_MAX || marks[maker].exit == EXIT_CODE_DONE)
        return false;
    explain_missing(&outcome->fault, file, index, maker);
    skip(outcome, marks, index, maker);
    return true;
}

static void remember(struct mark *marks, size_t index, const struct outcome *outcome)
{
    struct mark *mark = &marks[index];
    char text[COMPARE_TEXT_MAX];

    mark->exit = outcome->exit;
    if (outcome->exit == EXIT_CODE_DONE || outcome->skipped)
        return;
    mark->failed = index;
    if (outcome->fault.code != FAULT_NONE)
        mark->why = strdup(outcome->fault.text);
    else
        mark->why = strdup(difference_text(&outcome->difference, NULL, "the golden file", text));
}

static bool is_wanted(const struct sequence_work *work, const struct job_file *file,
                      const struct job_spec *job)
{
    return !work->wanted || work->wanted(work->context, file, job);
}

/* Counts a job that does not run, for the reason `why`; --json prints the job. */
static void skip_rest(const struct sequence *sequence, const struct job_file *file,
                      const struct job_spec *job, const char *why, struct progress *progress)
{
    progress->not_run++;
    if (progress->exit == EXIT_CODE_DONE)
        progress->exit = EXIT_CODE_STOPPED; /* cancelled between two jobs */
    if (!sequence->style.json)
        return;
    struct outcome outcome = {.skipped = true, .exit = progress->exit};
    fault_set(&outcome.fault, FAULT_CANCELLED, job->pointer, "not run: %s", why);
    job_report_json(file, job, &outcome);
}

/* Calls `begin` for a file. Returns 0, or -1 with the fault printed and all jobs skipped. */
static int begin_file(const struct sequence *sequence, const struct sequence_work *work,
                      const struct job_file *file, struct progress *progress)
{
    struct fault fault;

    if (progress->stopped || !work->begin || work->begin(work->context, file, &fault) == 0)
        return 0;
    enum exit_code code = print_failure(&sequence->style, file->path, &fault);
    if (progress->exit == EXIT_CODE_DONE)
        progress->exit = code;
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];
        if (is_wanted(work, file, job))
            skip_rest(sequence, file, job, "the buffers of the file are missing", progress);
    }
    progress->stopped =
        sequence->fail_fast || cancel_requested() || exit_code_of(&fault) == EXIT_CODE_LOST;
    return -1;
}

/*
 * Returns whether the run reports a job. Text output reports only the first of the jobs that are
 * skipped after a failure; --json reports all jobs.
 */
static bool shows(const struct sequence *sequence, const struct outcome *outcome,
                  struct progress *progress)
{
    if (!outcome->skipped || sequence->style.json)
        return true;
    return ++progress->skipped <= SKIPS_SHOWN;
}

static void run_file(const struct sequence *sequence, const struct sequence_work *work,
                     const struct job_file *file, struct mark *marks, struct progress *progress)
{
    for (size_t i = 0; i < file->list.count; i++) {
        size_t index = file->list.order[i];
        const struct job_spec *job = &file->list.jobs[index];
        bool wanted = is_wanted(work, file, job);
        if (progress->stopped) {
            if (wanted)
                skip_rest(sequence, file, job, "an earlier job stopped the sequence", progress);
            continue;
        }
        struct outcome outcome = {0};
        if (!skip_dependant(file, index, marks, &outcome))
            work->job(work->context, file, job, &outcome);
        remember(marks, index, &outcome);
        if (wanted) {
            if (shows(sequence, &outcome, progress))
                work->report(&sequence->style, file, job, &outcome);
            if (progress->exit == EXIT_CODE_DONE)
                progress->exit = outcome.exit;
        }
        progress->stopped = cancel_requested() || outcome.disconnected ||
                            (wanted && sequence->fail_fast && outcome.exit != EXIT_CODE_DONE);
        outcome_finish(&outcome);
    }
}

enum exit_code sequence_run(struct sequence *sequence, const struct sequence_work *work)
{
    struct progress progress = {.exit = EXIT_CODE_DONE};

    for (size_t i = 0; i < sequence->file_count; i++) {
        const struct job_file *file = &sequence->files[i];
        struct mark *marks = calloc(file->list.count, sizeof(*marks));
        if (!marks)
            return print_no_memory();
        if (begin_file(sequence, work, file, &progress) == 0)
            run_file(sequence, work, file, marks, &progress);
        if (work->end)
            work->end(work->context);
        for (size_t k = 0; k < file->list.count; k++)
            free(marks[k].why);
        free(marks);
    }
    if (progress.skipped > SKIPS_SHOWN)
        print_error("%zu more job%s not run, because earlier jobs failed (--json lists all)",
                    progress.skipped - SKIPS_SHOWN,
                    progress.skipped - SKIPS_SHOWN == 1 ? " was" : "s were");
    if (progress.not_run)
        print_error("%zu job%s not run", progress.not_run,
                    progress.not_run == 1 ? " was" : "s were");
    return progress.exit;
}
