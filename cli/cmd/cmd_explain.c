/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl explain: describes and draws what jobs will do, without moving data. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine_arg.h"
#include "cli/explain/c_function.h"
#include "cli/explain/explained.h"
#include "cli/explain/explained_board.h"
#include "cli/explain/picture.h"
#include "cli/explain/picture_text.h"
#include "cli/explain/svg_picture.h"
#include "cli/explain/timeline.h"
#include "cli/file/place.h"
#include "cli/job/job_limits.h"
#include "cli/job/job_report.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/resolve.h"
#include "cli/job/sequence.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "target/profile/profile_load.h"

static const char *const color_words[] = {"auto", "always", "never", NULL};
static const struct value color_value = {VALUE_WORD, color_words};

static const struct option options_table[] = {
    {"svg", 0, "FILE", "Draw the picture to FILE; - is standard output (default: none).",
     .takes = &value_file},
    {"job", 0, "NAME", "Explain only the job with this name or number, from 0 (default: all)."},
    {"engine", 'e', "SPEC", "Count the descriptors of this engine (default: the library's).",
     .takes = &value_engine},
    {"channels", 'c', "N", "Split each job over N channels (default: the job's)."},
    {"profile", 0, "NAME",
     "Show the move on the board of this target profile, or of a file (default: none)."},
    {"descriptors", 0, "N", "Print at most N descriptors of each channel (default: 4)."},
    {"trace", 0, "FILE",
     "Write the timeline of the jobs on the --profile for Perfetto (default: none).",
     .takes = &value_file},
    {"c", 0, NULL, "Print only a C function for each job, with the calls of embARC MLI."},
    {"no-picture", 0, NULL, "Print no picture."},
    {"view", 0, "DIMS",
     "Show these dimensions as rows and columns, 0,1 or HWC (default: the last two)."},
    {"color", 0, "WHEN",
     "Colour the picture: auto (on a terminal), always or never (default: auto).",
     .takes = &color_value},
    {"no-memcpy", 0, NULL, "Do not measure memcpy."},
    LIMITS_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* The options of a run of the command, and its state. */
struct run {
    struct print_style style;
    const struct sequence *sequence;
    struct produced produced;
    struct job_limits limits;
    const char *job;                /* --job; null: all jobs */
    size_t explained;               /* number of jobs explained until now */
    uint64_t channels;              /* --channels; 0: those of the job */
    const char *view;               /* --view; null: the defaults */
    struct target_profile *profile; /* --profile; or null */
    uint64_t descriptors;           /* --descriptors */
    struct timeline timeline;       /* of the jobs on the board, with a profile */
    bool memcpy;
    bool c;       /* --c */
    bool picture; /* true: print the text picture */
    struct picture_text_style characters;
    struct svg_target svg;
    enum exit_code drawn; /* EXIT_CODE_DONE, or the code of the first failed drawing */
    /* The file that find_job() searched last, and its result. */
    const struct job_file *file;
    size_t index;
};

/* Parses a number below `count`. Returns `count` for any other text. */
static size_t number_below(const char *text, size_t count)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    return digits && number < count ? (size_t)number : count;
}

/* Returns the index of the job with this name, else with this number, else the list's count. */
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
    struct run *run = context;
    if (!run->job)
        return true;
    if (run->file != file)
        run->index = find_job(&file->list, run->job);
    run->file = file;
    return (size_t)(job - file->list.jobs) == run->index;
}

/* Prints a job as text, after an empty line unless it is the first job. */
static void print_as_text(const struct run *run, const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    if (run->explained > 0)
        textw_printf(&w, "\n");
    explained_text(&w, e);
    if (run->picture) {
        textw_printf(&w, "\n");
        picture_text(&w, e, &run->characters);
    }
    print_text(&w);
    textw_finish(&w);
}

static void draw_on_stdout(const struct explained *e)
{
    struct textw w;
    textw_init(&w);
    svg_picture(&w, e);
    print_text(&w);
    textw_finish(&w);
}

/* Refuses to replace a file that the job reads or writes by a drawing. */
static int check_apart(const char *path, const struct job_file *file,
                       const struct resolved *resolved, struct fault *fault)
{
    const char *files[] = {file->path, resolved->src_path, resolved->dst_path,
                           resolved->params_path, resolved->expect_path};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--svg: %s is a file of the job; choose another file", path);
    }
    return 0;
}

static int draw_to_file(const struct run *run, const struct job_file *file,
                        const struct resolved *resolved, const struct explained *e,
                        struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    char *path = svg_target_path(&run->svg, (size_t)(file - run->sequence->files),
                                 (size_t)(job - file->list.jobs), job->common.name);
    int status = path ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    if (status == 0)
        status = check_apart(path, file, resolved, fault);
    if (status == 0)
        status = svg_picture_save(e, path, fault);
    free(path);
    return status;
}

/* Draws a job. A failure sets the exit code of the command, not the verdict on the job. */
static void draw(struct run *run, const struct job_file *file, const struct resolved *resolved,
                 const struct explained *e)
{
    struct fault fault;
    if (svg_target_is_stdout(&run->svg)) {
        draw_on_stdout(e);
    } else if (run->svg.path && draw_to_file(run, file, resolved, e, &fault)) {
        enum exit_code code = print_file_failure(&run->style, run->svg.path, &fault);
        if (run->drawn == EXIT_CODE_DONE)
            run->drawn = code;
    }
}

static void print_as_json(const struct explained *e)
{
    struct jsonw w;
    jsonw_init(&w);
    explained_json(&w, e);
    print_json(&w);
}

static void print_as_c(const struct run *run, const struct explained *e,
                       const struct resolved *resolved)
{
    struct textw w;
    textw_init(&w);
    if (run->explained == 0)
        c_function_begin(&w);
    c_function(&w, e, resolved, run->explained);
    print_text(&w);
    textw_finish(&w);
}

static void print(struct run *run, struct explained *e, const struct resolved *resolved)
{
    if (run->memcpy)
        explained_time_memcpy(e);
    if (run->c)
        print_as_c(run, e, resolved);
    else if (run->style.json)
        print_as_json(e);
    else if (!run->style.quiet && !svg_target_is_stdout(&run->svg))
        print_as_text(run, e);
    run->explained++;
}

/* Explains a job, and then checks limits and rules, so that a job that breaks one is explained. */
static int explain_resolved(struct run *run, const struct job_file *file,
                            const struct resolved *resolved, struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    struct explained explained;
    struct explained_board board;
    uint32_t channels = run->channels ? (uint32_t)run->channels : job->common.channels;
    if (!is_wanted(run, file, job))
        return resolved_produce(resolved, &run->produced, fault);
    if (explained_init(&explained, file, resolved, channels, fault) ||
        (run->view && picture_views_parse(run->view, &explained.move, &explained.views, fault)))
        return -1;
    if (run->profile) {
        const struct board_move move = {&explained.move, explained.src_base, explained.dst_base,
                                        channels};

        if (explained_board_init(&board, run->profile, resolved, &move, run->descriptors, fault))
            return -1;
        explained.board = &board;
        timeline_add(&run->timeline, file, (size_t)(job - file->list.jobs), &board);
    }
    print(run, &explained, resolved);
    draw(run, file, resolved, &explained);
    if (job_limits_check(&run->limits, resolved, &explained, fault) ||
        (run->profile && job_rules_check(&(struct job_rules){.profile = run->profile}, resolved,
                                         &explained, fault)))
        return -1;
    return resolved_produce(resolved, &run->produced, fault);
}

static void explain_job(void *context, const struct job_file *file, const struct job_spec *job,
                        struct outcome *outcome)
{
    struct run *run = context;
    struct resolved resolved;
    outcome->validated = true;
    if (resolved_init(&resolved, file, job, &run->produced, &outcome->fault) ||
        explain_resolved(run, file, &resolved, &outcome->fault)) {
        outcome_judge_failure(job, false, outcome);
        fault_prefix(&outcome->fault, job->pointer);
    }
    resolved_finish(&resolved);
}

/* Reports only refused jobs: the valid jobs are explained in the output already. */
static void report_explained(const struct print_style *style, const struct job_file *file,
                             const struct job_spec *job, const struct outcome *outcome)
{
    if (outcome->fault.code != FAULT_NONE)
        job_report_validated(style, file, job, outcome);
}

/* Returns the number of jobs that --job selects. */
static size_t count_wanted(const struct run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->sequence->file_count; i++) {
        const struct job_list *list = &run->sequence->files[i].list;
        if (!run->job)
            count += list->count;
        else if (find_job(list, run->job) < list->count)
            count++;
    }
    return count;
}

/* Sets the engine of the library. Returns 0, or -1 with the fault. */
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

/* Checks --job and --svg against the job files. Returns 0, or -1 after an error message. */
static int check_wanted(struct run *run)
{
    run->svg.files = run->sequence->file_count;
    run->svg.jobs = count_wanted(run);
    if (run->svg.jobs == 0) {
        print_error("--job %s: no file has a job with this name or number", run->job);
        return -1;
    }
    if (svg_target_is_stdout(&run->svg) && run->svg.jobs > 1) {
        print_error("--svg -: standard output takes one drawing, not %zu; give a file, or --job",
                    run->svg.jobs);
        return -1;
    }
    return 0;
}

static enum exit_code explain_all(struct run *run, struct sequence *sequence)
{
    run->sequence = sequence;
    if (check_wanted(run))
        return EXIT_CODE_INVALID;
    enum exit_code code = sequence_run(sequence, &(struct sequence_work){.job = explain_job,
                                                                         .report = report_explained,
                                                                         .wanted = is_wanted,
                                                                         .context = run});
    return code == EXIT_CODE_DONE ? run->drawn : code;
}

/* Applies --color; --json disables colours. Returns 0, or -1 after an error message. */
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

/* Reads the options. Returns 0, or -1 after an error message. */
static int read_options(struct run *run, const struct options *options)
{
    if (choose_colours(options))
        return -1;
    *run = (struct run){.style = options_style(options),
                        .job = options_get(options, "job"),
                        .view = options_get(options, "view"),
                        .c = options_get(options, "c") != NULL,
                        .picture = !options_get(options, "no-picture"),
                        .characters = picture_text_style(),
                        .svg = {.path = options_get(options, "svg")}};
    run->memcpy = !run->c && !options_get(options, "no-memcpy");
    if (run->c && (run->style.json || svg_target_is_stdout(&run->svg))) {
        print_error("--c cannot be combined with --json and --svg -: all write to standard output");
        return -1;
    }
    if (svg_target_is_stdout(&run->svg) && run->style.json) {
        print_error("--svg - and --json cannot be combined: both write to standard output");
        return -1;
    }
    if (run->svg.path && !*run->svg.path) {
        print_error("--svg requires the name of a file, or - for standard output");
        return -1;
    }
    run->descriptors = BOARD_SHOWN_DEFAULT;
    return options_uint(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &run->channels) ||
           options_uint(options, "descriptors", 0, UINT32_MAX, &run->descriptors);
}

/* Loads --profile into *profile. Returns 0, or -1 after an error message. */
static int read_profile(struct run *run, const struct options *options,
                        struct target_profile *profile)
{
    const char *name = options_get(options, "profile");
    struct fault fault;

    if (!name && options_get(options, "trace")) {
        print_error("--trace requires --profile: it shows the times of a board's model");
        return -1;
    }
    if (!name)
        return 0;
    if (profile_load(profile, name, &fault) < 0) {
        (void)print_failure(&run->style, profile_is_path(name) ? name : NULL, &fault);
        return -1;
    }
    run->profile = profile;
    return 0;
}

/* Prints the sum of the jobs on a board, and writes the trace. Returns the exit code. */
static enum exit_code end_timeline(struct run *run, const char *path)
{
    struct timeline *timeline = &run->timeline;
    struct fault fault;
    struct textw text;
    struct jsonw w;

    if (run->style.json) {
        jsonw_init(&w);
        timeline_json(&w, timeline);
        print_json(&w);
    } else if (!run->style.quiet && !run->c && !svg_target_is_stdout(&run->svg)) {
        textw_init(&text);
        timeline_text(&text, timeline);
        print_text(&text);
        textw_finish(&text);
    }
    if (path && timeline_save(timeline, path, &fault))
        return print_file_failure(&run->style, path, &fault);
    return EXIT_CODE_DONE;
}

static enum exit_code explain(const struct options *options)
{
    struct run run;
    struct sequence sequence;
    struct fault fault;
    struct target_profile profile;
    if (read_options(&run, options) || read_profile(&run, options, &profile))
        return EXIT_CODE_INVALID;
    if (choose_engine(options_get(options, "engine"), &fault) ||
        job_limits_find(&run.limits, options, &fault))
        return print_failure(&run.style, NULL, &fault);
    enum exit_code code = sequence_init(&sequence, options);
    if (run.profile)
        timeline_init(&run.timeline, run.profile);
    if (code == EXIT_CODE_DONE)
        code = explain_all(&run, &sequence);
    if (code == EXIT_CODE_DONE && run.profile)
        code = end_timeline(&run, options_get(options, "trace"));
    timeline_finish(&run.timeline);
    produced_finish(&run.produced);
    sequence_finish(&sequence);
    return code;
}

static const struct example examples[] = {
    {"explain a job", "mlictl explain job.json"},
    {"draw it", "mlictl explain job.json --svg job.svg"},
    {"explain one of several jobs, split over four channels",
     "mlictl explain jobs.json --job 1 -c 4"},
    {"choose the dimensions for rows and columns", "mlictl explain job.json --view 0,1"},
    {"show the move on a board", "mlictl explain job.json --profile vpx5-nsim"},
    {"write it as C for firmware", "mlictl explain job.json --c > job.c"},
    {"count the descriptors of a device", "mlictl explain job.json --engine mock --json"},
    {0},
};

const struct command cmd_explain = {
    .name = "explain",
    .arguments = "JOB.json...",
    .summary = "describe and draw what jobs will do, without moving data",
    .details =
        "Prints the steps of each move, the bytes that it reads and writes, its plan, the parts\n"
        "of the channels, and a picture. Jobs may read files that earlier jobs would write.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = examples,
    .run = explain,
};
