/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl explain: what jobs are going to do, without moving a byte. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "engine_arg.h"
#include "explained.h"
#include "facts.h"
#include "judge.h"
#include "memcpy_time.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "produced.h"
#include "report.h"
#include "resolve.h"
#include "sequence.h"
#include "sheet.h"

static const struct option options_table[] = {
    {"job", 0, "NAME", "only this job, by its name or its number in the file (from 0)"},
    {"engine", 'e', "SPEC", "whose descriptors are told of (the library's default)",
     .takes = &value_engine},
    {"channels", 'c', "N", "split over so many rather than what the job asks for"},
    {"no-memcpy", 0, NULL, "do not measure memcpy"},
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* What is told of each job. */
struct telling {
    struct print_style style;
    struct produced produced;
    const char *job;   /* null: all of them */
    size_t told;       /* jobs that were asked for */
    uint64_t channels; /* 0: as the job says */
    bool memcpy;
};

/* The number that a text is, below `count`; else `count`. */
static size_t number_below(const char *text, size_t count)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    return digits && number < count ? (size_t)number : count;
}

/* Which job is meant: of those of that name, else of that number; none: the list's count. */
static size_t find_job(const struct job_list *list, const char *wanted)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->jobs[i].name && strcmp(list->jobs[i].name, wanted) == 0)
            return i;
    }
    return number_below(wanted, list->count);
}

static bool is_wanted(void *context, const struct job_file *file, const struct job *job)
{
    const struct telling *telling = context;
    return !telling->job || (size_t)(job - file->list.jobs) == find_job(&file->list, telling->job);
}

/* A job's text, an empty line between it and the one before. */
static void tell_text(const struct telling *telling, const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    if (telling->told > 0)
        textw_printf(&w, "\n");
    explained_text(&w, e);
    print_text(&w);
    textw_finish(&w);
}

static void tell_json(const struct explained *e)
{
    struct jsonw w;
    jsonw_init(&w);
    explained_json(&w, e);
    print_json(&w);
}

static void tell(struct telling *telling, struct explained *e)
{
    if (telling->memcpy) {
        e->memcpy_ns = memcpy_time(e->move.plan.bytes);
        e->timed = e->memcpy_ns > 0;
    }
    if (telling->style.json)
        tell_json(e);
    else if (!telling->style.quiet)
        tell_text(telling, e);
    telling->told++;
}

static int explain_resolved(struct telling *telling, const struct job_file *file,
                            const struct resolved *resolved, struct fault *fault)
{
    const struct job *job = resolved->job;
    struct explained explained;
    uint32_t channels = telling->channels ? (uint32_t)telling->channels : job->channels;
    bool wanted = is_wanted(telling, file, job);
    if (wanted && explained_init(&explained, file, resolved, channels, fault))
        return -1;
    if (resolved_produce(resolved, &telling->produced, fault))
        return -1;
    if (wanted)
        tell(telling, &explained);
    return 0;
}

static void explain_job(void *context, const struct job_file *file, const struct job *job,
                        struct outcome *outcome)
{
    struct telling *telling = context;
    struct resolved resolved;
    outcome->validated = true;
    if (resolved_init(&resolved, file, job, &telling->produced, &outcome->fault) ||
        explain_resolved(telling, file, &resolved, &outcome->fault)) {
        judge_failure(job, false, outcome);
        fault_prefix(&outcome->fault, job->pointer);
    }
    resolved_finish(&resolved);
}

/* What was explained has been told. */
static void report_explained(const struct print_style *style, const struct job_file *file,
                             const struct job *job, const struct outcome *outcome)
{
    if (outcome->fault.code != FAULT_NONE)
        report_validated(style, file, job, outcome);
}

/* There is such a job in one of the files. */
static bool has_wanted(const struct telling *telling, const struct sequence *sequence)
{
    for (size_t i = 0; telling->job && i < sequence->file_count; i++) {
        const struct job_list *list = &sequence->files[i].list;
        if (find_job(list, telling->job) < list->count)
            return true;
    }
    return !telling->job;
}

/* Returns 0 or -1. */
static int choose_engine(const char *engine, struct fault *fault)
{
    if (!engine)
        return 0;
    if (engine_arg_check(engine, fault))
        return -1;
    if (mli_mov_set_engine(engine) != MLI_STATUS_OK)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--%s", mli_last_error());
    return 0;
}

static enum exit_code explain_all(struct telling *telling, struct sequence *sequence)
{
    if (!has_wanted(telling, sequence)) {
        print_error("--job: no file has a job of this name, nor of this number: %s", telling->job);
        return EXIT_CODE_INVALID;
    }
    return sequence_run(sequence, &(struct sequence_work){.job = explain_job,
                                                          .report = report_explained,
                                                          .wanted = is_wanted,
                                                          .context = telling});
}

static enum exit_code explain(const struct options *options)
{
    struct telling telling = {.style = options_style(options),
                              .job = options_get(options, "job"),
                              .memcpy = !options_get(options, "no-memcpy")};
    struct sequence sequence;
    if (options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &telling.channels))
        return EXIT_CODE_INVALID;
    struct fault fault;
    if (choose_engine(options_get(options, "engine"), &fault))
        return print_failure(&telling.style, NULL, &fault);
    enum exit_code code = sequence_init(&sequence, options);
    if (code == EXIT_CODE_DONE)
        code = explain_all(&telling, &sequence);
    produced_finish(&telling.produced);
    sequence_finish(&sequence);
    return code;
}

static const struct example examples[] = {
    {"before it goes to the board", "mlictl explain job.json"},
    {"one job of many, split over four channels", "mlictl explain jobs.json --job 1 -c 4"},
    {"in how many descriptors of a device", "mlictl explain job.json --engine mock --json"},
    {0},
};

const struct command cmd_explain = {
    .name = "explain",
    .arguments = "JOB.json...",
    .summary = "tell what jobs will do, without moving a byte",
    .details =
        "The steps of each move, what it reads and writes, its plan and the channels' parts.\n"
        "Files are opened for their headers; jobs may read what jobs before them would write.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = examples,
    .run = explain,
};
