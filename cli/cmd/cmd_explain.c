/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl explain: what jobs are going to do, without moving a byte. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine_arg.h"
#include "cli/explain/explained.h"
#include "cli/explain/picture.h"
#include "cli/explain/picture_text.h"
#include "cli/explain/svg_picture.h"
#include "cli/file/place.h"
#include "cli/job/job_limits.h"
#include "cli/job/job_report.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "cli/job/sequence.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"

static const char *const color_words[] = {"auto", "always", "never", NULL};
static const struct value color_value = {VALUE_WORD, color_words};

static const struct option options_table[] = {
    {"svg", 0, "FILE", "draw it there; `-` is standard output", .takes = &value_file},
    {"job", 0, "NAME", "only this job, by its name or its number in the file (from 0)"},
    {"engine", 'e', "SPEC", "whose descriptors are told of (the library's default)",
     .takes = &value_engine},
    {"channels", 'c', "N", "split over so many rather than what the job asks for"},
    {"no-picture", 0, NULL, "only numbers"},
    {"view", 0, "DIMS", "dimensions that are rows and columns: 0,1 or HWC (the last two)"},
    {"color", 0, "WHEN", "colour the picture: auto (default: on a terminal), always or never",
     .takes = &color_value},
    {"no-memcpy", 0, NULL, "do not measure memcpy"},
    LIMITS_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* What is told of each job. */
struct telling {
    struct print_style style;
    const struct sequence *sequence;
    struct produced produced;
    struct job_limits limits;
    const char *job;   /* --job; null: all of them */
    size_t told;       /* jobs that were asked for */
    uint64_t channels; /* 0: as the job says */
    const char *view;  /* --view; null: the default */
    bool memcpy;
    bool picture; /* in characters */
    struct picture_text_style characters;
    struct svg_target svg;
    enum exit_code drawn; /* DONE, or why a drawing could not be made */
    /* Which of a file's jobs is meant: found once for all of them. */
    const struct job_file *file;
    size_t index;
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
        if (list->jobs[i].common.name && strcmp(list->jobs[i].common.name, wanted) == 0)
            return i;
    }
    return number_below(wanted, list->count);
}

static bool is_wanted(void *context, const struct job_file *file, const struct job_spec *job)
{
    struct telling *telling = context;
    if (!telling->job)
        return true;
    if (telling->file != file)
        telling->index = find_job(&file->list, telling->job);
    telling->file = file;
    return (size_t)(job - file->list.jobs) == telling->index;
}

/* A job's text, an empty line between it and the one before. */
static void tell_text(const struct telling *telling, const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    if (telling->told > 0)
        textw_printf(&w, "\n");
    explained_text(&w, e);
    if (telling->picture) {
        textw_printf(&w, "\n");
        picture_text(&w, e, &telling->characters);
    }
    print_text(&w);
    textw_finish(&w);
}

/* Standard output is for the drawing alone. */
static void draw_on_stdout(const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    svg_picture(&w, e);
    print_text(&w);
    textw_finish(&w);
}

/* A drawing that takes the place of what the job reads or writes is a mistake. */
static int check_apart(const char *path, const struct job_file *file,
                       const struct resolved *resolved, struct fault *fault)
{
    const char *files[] = {file->path, resolved->src_path, resolved->dst_path,
                           resolved->params_path, resolved->expect_path};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--svg: %s is a file of the job; choose another one", path);
    }
    return 0;
}

static int draw_to_file(const struct telling *telling, const struct job_file *file,
                        const struct resolved *resolved, const struct explained *e,
                        struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    char *path = svg_target_path(&telling->svg, (size_t)(file - telling->sequence->files),
                                 (size_t)(job - file->list.jobs), job->common.name);
    int status = path ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    if (status == 0)
        status = check_apart(path, file, resolved, fault);
    if (status == 0)
        status = svg_picture_save(e, path, fault);
    free(path);
    return status;
}

/* A drawing that cannot be made is no fault of the job. */
static void draw(struct telling *telling, const struct job_file *file,
                 const struct resolved *resolved, const struct explained *e)
{
    struct fault fault;
    if (svg_target_is_stdout(&telling->svg)) {
        draw_on_stdout(e);
    } else if (telling->svg.path && draw_to_file(telling, file, resolved, e, &fault)) {
        enum exit_code code = print_file_failure(&telling->style, telling->svg.path, &fault);
        if (telling->drawn == EXIT_CODE_DONE)
            telling->drawn = code;
    }
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
    if (telling->memcpy)
        explained_time_memcpy(e);
    if (telling->style.json)
        tell_json(e);
    else if (!telling->style.quiet && !svg_target_is_stdout(&telling->svg))
        tell_text(telling, e);
    telling->told++;
}

/* Explains also a job that exceeds a limit, before it is refused. */
static int explain_resolved(struct telling *telling, const struct job_file *file,
                            const struct resolved *resolved, struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    struct explained explained;
    uint32_t channels = telling->channels ? (uint32_t)telling->channels : job->common.channels;
    if (!is_wanted(telling, file, job))
        return resolved_produce(resolved, &telling->produced, fault);
    if (explained_init(&explained, file, resolved, channels, fault) ||
        (telling->view &&
         picture_views_parse(telling->view, &explained.move, &explained.views, fault)))
        return -1;
    tell(telling, &explained);
    draw(telling, file, resolved, &explained);
    if (job_limits_check(&telling->limits, resolved, &explained, fault))
        return -1;
    return resolved_produce(resolved, &telling->produced, fault);
}

static void explain_job(void *context, const struct job_file *file, const struct job_spec *job,
                        struct outcome *outcome)
{
    struct telling *telling = context;
    struct resolved resolved;
    outcome->validated = true;
    if (resolved_init(&resolved, file, job, &telling->produced, &outcome->fault) ||
        explain_resolved(telling, file, &resolved, &outcome->fault)) {
        outcome_judge_failure(job, false, outcome);
        fault_prefix(&outcome->fault, job->pointer);
    }
    resolved_finish(&resolved);
}

/* What was explained has been told. */
static void report_explained(const struct print_style *style, const struct job_file *file,
                             const struct job_spec *job, const struct outcome *outcome)
{
    if (outcome->fault.code != FAULT_NONE)
        job_report_validated(style, file, job, outcome);
}

/* Jobs that are asked for. */
static size_t count_wanted(const struct telling *telling)
{
    size_t count = 0;
    for (size_t i = 0; i < telling->sequence->file_count; i++) {
        const struct job_list *list = &telling->sequence->files[i].list;
        if (!telling->job)
            count += list->count;
        else if (find_job(list, telling->job) < list->count)
            count++;
    }
    return count;
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

/* What needs the job files to be known. Returns 0, or -1 after saying what is wrong. */
static int check_wanted(struct telling *telling)
{
    telling->svg.files = telling->sequence->file_count;
    telling->svg.jobs = count_wanted(telling);
    if (telling->svg.jobs == 0) {
        print_error("--job: no file has a job of this name, nor of this number: %s", telling->job);
        return -1;
    }
    if (svg_target_is_stdout(&telling->svg) && telling->svg.jobs > 1) {
        print_error("--svg -: %zu jobs have as many drawings; name a file, or one job with --job",
                    telling->svg.jobs);
        return -1;
    }
    return 0;
}

static enum exit_code explain_all(struct telling *telling, struct sequence *sequence)
{
    telling->sequence = sequence;
    if (check_wanted(telling))
        return EXIT_CODE_INVALID;
    enum exit_code code = sequence_run(sequence, &(struct sequence_work){.job = explain_job,
                                                                         .report = report_explained,
                                                                         .wanted = is_wanted,
                                                                         .context = telling});
    return code == EXIT_CODE_DONE ? telling->drawn : code;
}

/* Reads --color. With --json there are no colours. Returns 0, or -1 after printing an error. */
static int choose_colours(const struct options *options)
{
    size_t when = 0;
    if (options_choice(options, "color", &when))
        return -1;
    if (when == 1 && !options_get(options, "json"))
        colour_force();
    else if (when == 2)
        colour_disable();
    return 0;
}

/* Returns 0, or -1 after saying what is wrong. */
static int read_options(struct telling *telling, const struct options *options)
{
    if (choose_colours(options))
        return -1;
    *telling = (struct telling){.style = options_style(options),
                                .job = options_get(options, "job"),
                                .view = options_get(options, "view"),
                                .memcpy = !options_get(options, "no-memcpy"),
                                .picture = !options_get(options, "no-picture"),
                                .characters = picture_text_style(),
                                .svg = {.path = options_get(options, "svg")}};
    if (svg_target_is_stdout(&telling->svg) && telling->style.json) {
        print_error("--svg - and --json: both are for standard output");
        return -1;
    }
    if (telling->svg.path && !*telling->svg.path) {
        print_error("--svg: the name of a file is needed, or - for standard output");
        return -1;
    }
    return options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &telling->channels);
}

static enum exit_code explain(const struct options *options)
{
    struct telling telling;
    struct sequence sequence;
    struct fault fault;
    if (read_options(&telling, options))
        return EXIT_CODE_INVALID;
    if (choose_engine(options_get(options, "engine"), &fault) ||
        job_limits_find(&telling.limits, options, &fault))
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
    {"as a drawing", "mlictl explain job.json --svg job.svg"},
    {"one job of many, split over four channels", "mlictl explain jobs.json --job 1 -c 4"},
    {"with other dimensions as rows and columns", "mlictl explain job.json --view 0,1"},
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
