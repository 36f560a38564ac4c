/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl explain: describes and draws what jobs will do, without moving data. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/engine_arg.h"
#include "cli/explain/c_code.h"
#include "cli/explain/explain.h"
#include "cli/explain/picture.h"
#include "cli/explain/timeline.h"
#include "cli/job/explained_board.h"
#include "cli/job/job_rules.h"
#include "cli/job/outcome.h"
#include "cli/job/produced.h"
#include "cli/job/races.h"
#include "cli/job/resolve.h"
#include "cli/job/staging.h"
#include "cli/link/tuning_choice.h"
#include "cli/run/job_limits.h"
#include "cli/run/sequence.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"

static const char *const color_words[] = {"auto", "always", "never", NULL};
static const struct value color_value = {VALUE_WORD, color_words};

static const struct option options_table[] = {
    {"svg", "FILE", "Draw the picture to FILE; - is standard output (default: none).",
     .takes = &value_file},
    {"job", "NAME", "Explain only the job with this name or number, from 0 (default: all)."},
    {"engine", "SPEC", "Count the descriptors of this engine (default: the library's).",
     .takes = &value_engine},
    {"channels", "N", "Split each job over N channels (default: the job's)."},
    {"profile", "NAME",
     "Show the move on the board of this target profile: a name or a path (default: none).",
     .takes = &value_profile},
    TUNING_OPTION,
    {"descriptors", "N", "Print at most N descriptors of each channel (default: 4)."},
    {"trace", "FILE",
     "Write the timeline of the jobs on the --profile for Perfetto (default: none).",
     .takes = &value_file},
    {"timeline", "FILE",
     "Draw the timeline of the jobs on the --profile, with the use of memories (default: none).",
     .takes = &value_file},
    {"measured", "FILE",
     "Show this recording of mlictl trace beside the model's timeline (default: none).",
     .takes = &value_file},
    {"c", NULL, "Print only a C function for each job, which calls embARC MLI."},
    {"no-picture", NULL, "Print no picture."},
    {"view", "DIMS",
     "Show these dimensions as rows and columns, 0,1 or HWC (default: the last two)."},
    {"color", "WHEN", "Colour the picture: auto (on a terminal), always or never (default: auto).",
     .takes = &color_value},
    {"no-memcpy", NULL, "Do not measure memcpy."},
    LIMITS_OPTIONS,
    SEQUENCE_OPTIONS,
    OPTIONS_COMMON,
};

/* A run of the command. */
struct run {
    const struct sequence *sequence;
    struct produced produced;
    struct job_limits limits;
    struct job_rules rules;  /* rules of the target profile, with --profile */
    struct races races;      /* races between jobs of the current job file */
    struct c_sequence calls; /* C code of the current job file, with --c */
    struct explain_output output;
    const char *job;          /* --job; null: all jobs */
    uint32_t channels;        /* value of --channels; 0: use the channels of each job */
    const char *view;         /* value of --view; null if it is not given */
    uint64_t descriptors;     /* value of --descriptors */
    struct timeline timeline; /* timeline of the jobs on the board of --profile */
    /* The file that find_job() searched last, and the result of that search. */
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

/* Places a move on the board of --profile, if given. */
static int place_on_board(const struct run *run, const struct job_rules *rules,
                          const struct job_file *file, const struct resolved *resolved,
                          struct explained *explained, struct explained_board *board,
                          struct fault *fault)
{
    const struct job_board_context context = {
        .profile = rules->profile, .file = file, .buffers = &rules->buffers};

    if (!rules->profile)
        return 0;
    if (explained_board_init(board, &context, resolved, explained, run->descriptors, fault))
        return -1;
    explained->board = board;
    return 0;
}

static int explain_step(struct run *run, struct explain_output *output, struct staging *stage,
                        int step, const struct job_rules *rules, struct explained_board *sum,
                        struct fault *fault)
{
    const struct job_spec *job = &stage->jobs[step];
    const uint32_t channels = run->channels ? run->channels : job->common.channels;
    struct explained explained;
    struct explained_board board;
    struct resolved resolved;
    int status = resolved_plan(&resolved, &stage->file, job, &run->produced, fault);

    if (status == 0)
        status = explained_init(&explained, &stage->file, &resolved, channels, fault);
    if (status == 0)
        explained.numbered = output->numbered;
    if (status == 0)
        status = place_on_board(run, rules, &stage->file, &resolved, &explained, &board, fault);
    if (status == 0 && run->output.c)
        c_sequence_add(&run->calls, &explained, &resolved, &stage->file, &rules->buffers,
                       output->explained);
    if (status == 0 && !svg_target_is_stdout(&run->output.svg))
        explain_output_job(output, 0, &stage->file, &resolved, &explained);
    if (status == 0 && rules->profile) {
        if (step == STAGING_LOAD)
            *sum = board;
        else
            explained_board_append(sum, &board);
        status = job_rules_check(rules, &resolved, &explained, fault);
    }
    resolved_finish(&resolved);
    return status ? staging_blame_step(fault, step) : 0;
}

/* Explains the three steps of a staged job, without pictures. */
static int explain_steps(struct run *run, const struct job_file *file,
                         const struct resolved *resolved, struct fault *fault)
{
    struct job_rules rules = {.profile = run->rules.profile, .of_daemon = true};
    struct explain_output output = run->output;
    struct explained_board sum;
    struct staging stage;
    int status = staging_init(&stage, file, resolved, fault);

    /* A job without a name: its C functions get numbers, not the name "job". */
    for (int step = 0; step < STAGING_STEPS && output.c && !resolved->job->common.name; step++)
        stage.jobs[step].common.name = NULL;
    output.picture = output.memcpy = false;
    output.svg.path = NULL;
    if (status == 0)
        status = staging_check_capacity(&stage, rules.profile, fault);
    if (status == 0 && job_rules_begin(&rules, &stage.file, fault))
        status = staging_blame(fault);
    for (int step = 0; step < STAGING_STEPS && status == 0; step++)
        status = explain_step(run, &output, &stage, step, &rules, &sum, fault);
    run->output.explained = output.explained;
    if (status == 0 && rules.profile)
        timeline_add(&run->timeline, file, (size_t)(resolved->job - file->list.jobs), &sum);
    job_rules_end(&rules);
    staging_finish(&stage);
    return status;
}

static int explain_unstaged(struct run *run, const struct job_file *file,
                            const struct resolved *resolved, struct explained *explained,
                            struct fault *fault)
{
    struct explained_board board;

    if (place_on_board(run, &run->rules, file, resolved, explained, &board, fault))
        return -1;
    if (run->rules.profile)
        timeline_add(&run->timeline, file, (size_t)(resolved->job - file->list.jobs), &board);
    if (run->output.c)
        c_sequence_add(&run->calls, explained, resolved, file, &run->rules.buffers,
                       run->output.explained);
    explain_output_job(&run->output, (size_t)(file - run->sequence->files), file, resolved,
                       explained);
    explained->board = NULL;
    return 0;
}

static int explain_staged(struct run *run, const struct job_file *file,
                          const struct resolved *resolved, struct explained *explained,
                          struct fault *fault)
{
    explained->stage = resolved->job->stage;
    if (!run->output.c)
        explain_output_job(&run->output, (size_t)(file - run->sequence->files), file, resolved,
                           explained);
    return explain_steps(run, file, resolved, fault);
}

/* Explains a job before checking limits and rules, so that a refused job is explained too. */
static int explain_resolved(struct run *run, const struct job_file *file,
                            const struct resolved *resolved, struct fault *fault)
{
    const struct job_spec *job = resolved->job;
    const uint32_t channels = run->channels ? run->channels : job->common.channels;
    const bool wanted = is_wanted(run, file, job), staged = is_staged(job);
    struct explained explained;

    if (!wanted && file->list.buffer_count == 0 && !file->output)
        return resolved_produce(resolved, &run->produced, fault);
    if (explained_init(&explained, file, resolved, channels, fault))
        return -1;
    explained.numbered = run->output.numbered;
    races_add(&run->races, resolved, &explained);
    if (!wanted)
        return resolved_produce(resolved, &run->produced, fault);
    if (run->view && picture_views_parse(run->view, &explained.move, &explained.views, fault))
        return -1;
    if (staged ? explain_staged(run, file, resolved, &explained, fault)
               : explain_unstaged(run, file, resolved, &explained, fault))
        return -1;
    if (job_limits_check(&run->limits, resolved, &explained, fault) ||
        explained_check_apart(&explained, resolved, fault) ||
        (run->rules.profile && !staged &&
         job_rules_check(&run->rules, resolved, &explained, fault)))
        return -1;
    return resolved_produce(resolved, &run->produced, fault);
}

static int begin_file(void *context, const struct job_file *file, struct fault *fault)
{
    struct run *run = context;
    races_begin(&run->races, file);
    run->output.numbered = file != run->sequence->files;
    if (job_limits_check_buffers(&run->limits, file, fault))
        return -1;
    return run->rules.profile ? job_rules_begin(&run->rules, file, fault) : 0;
}

/* Returns the number of C functions for a whole job file. */
static size_t count_functions(const struct job_list *list)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += is_staged(&list->jobs[i]) ? STAGING_STEPS : 1;
    return count;
}

/* Prints the function that calls the functions of all jobs, if the file has several and none
 * failed. */
static void print_calls(struct run *run)
{
    const struct job_file *file = run->races.file;
    const size_t number = (size_t)(file - run->sequence->files);
    struct textw w;

    if (run->output.c && run->calls.count > 1 && !run->calls.failed &&
        run->calls.count == count_functions(&file->list)) {
        textw_init(&w);
        c_sequence_write(&w, &run->calls, file->path,
                         run->sequence->file_count > 1 ? &number : NULL);
        print_text(&w);
    }
    c_sequence_finish(&run->calls);
}

static void end_file(void *context)
{
    struct run *run = context;
    print_calls(run);
    races_report_params(&run->races, &run->output.style);
    races_report(&run->races, &run->output.style);
    races_finish(&run->races);
    job_rules_end(&run->rules);
}

static void explain_job(void *context, const struct job_file *file, const struct job_spec *job,
                        struct outcome *outcome)
{
    struct run *run = context;
    struct resolved resolved;
    outcome->validated = true;
    if (resolved_plan(&resolved, file, job, &run->produced, &outcome->fault) ||
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
    run->output.svg.files = run->sequence->file_count;
    run->output.svg.jobs = count_wanted(run);
    if (run->output.svg.jobs == 0)
        return print_refusal("--job %s: no file has a job with this name or number", run->job);
    if (svg_target_is_stdout(&run->output.svg) && run->output.svg.jobs > 1)
        return print_refusal(
            "--svg -: standard output takes one drawing, not %zu; give a file, or --job",
            run->output.svg.jobs);
    return 0;
}

static enum exit_code explain_all(struct run *run, struct sequence *sequence)
{
    run->sequence = sequence;
    if (check_wanted(run))
        return EXIT_CODE_INVALID;
    enum exit_code code = sequence_run(sequence, &(struct sequence_work){.job = explain_job,
                                                                         .report = report_explained,
                                                                         .begin = begin_file,
                                                                         .end = end_file,
                                                                         .wanted = is_wanted,
                                                                         .context = run});
    return code == EXIT_CODE_DONE ? run->output.drawn : code;
}

/* Reads the options. Returns 0, or -1 after an error message. */
static int read_options(struct run *run, const struct options *options)
{
    *run = (struct run){.job = options_get(options, "job"),
                        .view = options_get(options, "view"),
                        .descriptors = BOARD_SHOWN_DEFAULT};
    return explain_output_read(&run->output, options) ||
           options_u32(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &run->channels) ||
           options_uint(options, "descriptors", 0, UINT32_MAX, &run->descriptors);
}

static enum exit_code explain(const struct options *options)
{
    struct run run;
    struct sequence sequence;
    struct fault fault;
    enum exit_code code;

    if (read_options(&run, options))
        return EXIT_CODE_INVALID;
    code = sequence_init(&sequence, options);
    if (code == EXIT_CODE_DONE && (choose_engine(options_get(options, "engine"), &fault) ||
                                   job_limits_find(&run.limits, options, &fault) ||
                                   job_rules_init(&run.rules, options, &fault)))
        code = print_failure(&sequence.style, NULL, &fault);
    if (run.rules.profile)
        timeline_init(&run.timeline, run.rules.profile);
    if (code == EXIT_CODE_DONE)
        code = explain_all(&run, &sequence);
    if (code == EXIT_CODE_DONE && run.rules.profile)
        code = explain_output_timeline(&run.output, &run.timeline);
    timeline_finish(&run.timeline);
    job_rules_finish(&run.rules);
    produced_finish(&run.produced);
    sequence_finish(&sequence);
    return code;
}

const struct command cmd_explain = {
    .name = "explain",
    .arguments = "JOB.json...",
    .summary = "describe and draw what jobs will do, without moving data",
    .details =
        "Prints the steps of each move, the bytes that it reads and writes, its plan, the parts\n"
        "of the channels, and a picture. Jobs may read files that earlier jobs would write.\n",
    .options = options_table,
    .takes = &value_job_file,
    .examples = {{"explain a job", "mlictl explain job.json"},
                 {"draw it", "mlictl explain job.json --svg job.svg"},
                 {"explain one of several jobs, split over four channels",
                  "mlictl explain jobs.json --job 1 -c 4"},
                 {"choose the dimensions for rows and columns",
                  "mlictl explain job.json --view 0,1"},
                 {"show the move on a board", "mlictl explain job.json --profile vpx5-nsim"},
                 {"draw the timeline of jobs on a board",
                  "mlictl explain jobs.json --profile vpx5-nsim --no-picture --timeline jobs.svg"},
                 {"write it as C for firmware", "mlictl explain job.json --c > job.c"},
                 {"count the descriptors of a device",
                  "mlictl explain job.json --engine mock --json"}},
    .run = explain,
};
