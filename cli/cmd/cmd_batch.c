/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch: runs job files as test cases; start with cli/batch/batch.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/workers.h"
#include "cli/command.h"
#include "cli/file/place.h"
#include "cli/job/job_rules.h"
#include "cli/link/embedded.h"
#include "cli/link/tuning_choice.h"
#include "cli/report/report.h"
#include "cli/term/print.h"
#include "proto/wire/wire_limits.h"

static const struct option options_table[] = {
    {"jobs", 'j', "N",
     "Run at most N cases at a time (default: number of processors; 1 with -H or --profile)."},
    FILTER_OPTION,
    {"shard", 0, "I/N", "Run shard I of N; auto and auto/N read the environment (default: all)."},
    {"list", 0, NULL, "Print the names of the selected cases; run nothing."},
    {"retries", 0, "N", "Retry a case that does not pass up to N times (default: 0)."},
    {"repeat", 0, "N", "Run each case N times; every run must pass (default: 1)."},
    {"fail-fast", 0, NULL, "Begin no further case after the first failure."},
    {"timeout", 0, "MS", "Limit each attempt at a case to MS ms (default: none)."},
    {"resume", 0, "STATE", "Record results in STATE, and reuse its valid ones (default: none).",
     .takes = &value_file},
    {"rerun", 0, NULL, "Rerun the cases of --resume STATE that did not pass."},
    {"update-golden", 0, NULL, "Write results that differ beside their golden files, as *.new."},
    {"keep", 0, "DIR", "Keep failed cases in DIR; none keeps nothing (default: batch-failed).",
     .takes = &value_directory},
    BATCH_REPORT_OPTIONS,
    EMBEDDED_OPTIONS("all that the engine has"),
    EMBEDDED_LIMIT_OPTION,
    PROFILE_OPTION,
    TUNING_OPTION,
    {"socket", 's', "PATH", "Run on the daemon at this socket (default: in this process).",
     .takes = &value_file},
    {"host", 'H', "URL",
     "Run on the daemon at ssh://[user@]host[:port], or on the board at qemu:BOARD or serial:PATH "
     "(default: none)."},
    OPTIONS_COMMON,
};

enum { ATTEMPTS_MAX = 1000 * 1000 };

static bool given(const struct options *options, const char *name)
{
    return options_get(options, name) != NULL;
}

static int read_number(const struct options *options, const char *name, uint64_t min, uint64_t max,
                       uint32_t *out)
{
    uint64_t number = *out;

    if (options_uint(options, name, min, max, &number))
        return -1;
    *out = (uint32_t)number;
    return 0;
}

static uint32_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : count > WORKERS_MAX ? WORKERS_MAX : (uint32_t)count;
}

static int read_numbers(struct batch_settings *settings, const struct options *options)
{
    struct trial_plan *trial = &settings->trial;

    /* Cases that each fit into a memory of the board may not fit together. */
    settings->workers = given(options, "host") || given(options, "profile") ? 1 : processors();
    trial->repeat = 1;
    if (read_number(options, "jobs", 1, WORKERS_MAX, &settings->workers) ||
        read_number(options, "retries", 0, ATTEMPTS_MAX, &trial->retries) ||
        read_number(options, "repeat", 1, ATTEMPTS_MAX, &trial->repeat) ||
        read_number(options, "timeout", 1, JOB_TIMEOUT_MAX_MS, &trial->attempt.timeout_ms))
        return -1;
    return embedded_channels(options, &settings->channels);
}

/* Refuses a report that would replace the state file. */
static int check_files(const struct options *options)
{
    const char *resume = options_get(options, "resume"), *junit = options_get(options, "junit");

    if (!resume || !junit || strcmp(junit, "-") == 0 || !place_same_file(resume, junit))
        return 0;
    print_error("--resume and --junit cannot be the same file: %s", resume);
    return -1;
}

/* Refuses options that cannot be combined. */
static int check(const struct options *options)
{
    if (check_files(options))
        return -1;
    if (given(options, "rerun") && !given(options, "resume")) {
        print_error("--rerun requires --resume STATE");
        return -1;
    }
    if (given(options, "update-golden") &&
        (given(options, "retries") || given(options, "repeat"))) {
        print_error("--update-golden cannot be combined with --retries or --repeat");
        return -1;
    }
    if (!connector_is_embedded(options) &&
        (given(options, "engine") || given(options, "channels") || given(options, "profile") ||
         given(options, "tuning"))) {
        print_error("--engine, --channels, --profile and --tuning cannot be combined with --socket "
                    "or --host: a daemon has its own");
        return -1;
    }
    return cases_check_filter(options);
}

static int read_shard(struct batch_settings *settings, const struct options *options)
{
    struct fault fault;
    const char *text = options_get(options, "shard");

    if (!text || shard_choose(text, &settings->shard, &fault) == 0)
        return 0;
    print_error("--shard %s", fault.text);
    return -1;
}

static void read_keep(struct batch_settings *settings, const struct options *options)
{
    const char *directory = options_get(options, "keep");
    bool none = directory && strcmp(directory, "none") == 0;

    settings->keep = directory && !none ? directory : "batch-failed";
    settings->trial.keeping =
        (struct keeping){.directory = none ? NULL : settings->keep,
                         .is_ours = access(settings->keep, F_OK) != 0,
                         .origin = kept_origin(options->arguments, options->argument_count)};
    settings->trial.attempt.keep = !none;
}

static int read_settings(struct batch_settings *settings, const struct options *options)
{
    *settings =
        (struct batch_settings){.resume = options_get(options, "resume"),
                                .whole = !given(options, "filter") && !given(options, "shard"),
                                .rerun = given(options, "rerun"),
                                .list = given(options, "list"),
                                .fail_fast = given(options, "fail-fast")};
    settings->trial.options = options;
    settings->trial.attempt.update_golden = given(options, "update-golden");
    read_keep(settings, options);
    if (check(options) || read_numbers(settings, options) || read_shard(settings, options))
        return -1;
    return batch_report_flaky(options, &settings->flaky_is_good);
}

static enum exit_code fail(const struct options *options, const struct fault *fault)
{
    const struct print_style style = options_style(options);

    return print_failure(&style, NULL, fault);
}

static bool is_selected(const void *context, const char *name)
{
    return cases_filter_selects(context, name);
}

/* Refuses cases in kept directories: a run must not remove the files that it reads. */
static int check_kept(const struct cases *cases, const struct batch_settings *settings,
                      struct fault *fault)
{
    const char *keep = settings->trial.keeping.directory;
    char shown[2][PRINT_PATH_MAX];

    for (size_t i = 0; keep && !settings->list && i < cases->count; i++) {
        const char *file = cases->list[i].file;

        if (kept_holds(keep, file))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "%s was kept in %s, where this run replaces and removes kept cases: "
                             "give another --keep DIR, or --keep none",
                             print_path(shown[0], file), print_path(shown[1], keep));
    }
    return 0;
}

/* Finds the cases of all PATHs, sorted and filtered by --filter. */
static enum exit_code collect(struct cases *cases, const struct batch_settings *settings,
                              const struct options *options)
{
    struct fault fault;

    for (size_t i = 0; i < options->argument_count; i++) {
        if (cases_add_path(cases, options->arguments[i], &fault))
            return fail(options, &fault);
    }
    if (cases_sort(cases, &fault))
        return fail(options, &fault);
    size_t found = cases->count;
    cases_retain(cases, is_selected, options);
    if (check_kept(cases, settings, &fault))
        return fail(options, &fault);
    if (cases->count > 0)
        return EXIT_CODE_DONE;
    fault_set(&fault, FAULT_INVALID_PARAMS, NULL,
              found ? "--filter selects none of %zu cases" : "the paths have no cases", found);
    return fail(options, &fault);
}

static enum exit_code list(const struct cases *cases, const struct options *options)
{
    const struct print_style style = {.json = options_get(options, "json") != NULL};

    for (size_t i = 0; i < cases->count; i++) {
        struct jsonw w;

        print_line(&style, "%s", cases->list[i].name);
        if (!style.json)
            continue;
        jsonw_init(&w);
        jsonw_object_begin(&w, NULL);
        jsonw_string(&w, "name", cases->list[i].name);
        jsonw_string(&w, "file", cases->list[i].file);
        jsonw_object_end(&w);
        print_json(&w);
    }
    return EXIT_CODE_DONE;
}

/* Raises the limit of file descriptors, because each output in memory needs a descriptor. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* A run and its connection to the service. */
struct batch_run {
    struct target_profile *profile; /* --profile, for predicted times; or NULL; owned */
    const struct batch_settings *settings;
    const struct options *options;
    struct connector connector;
    struct daemon_link first; /* the first connection, until a worker takes it */
    bool connected;
    struct run_setup setup;
};

static int connect_first(struct batch_run *run, struct fault *fault)
{
    if (run->connected)
        return 0;
    run->connected = true;
    return connector_init(&run->connector, run->options, run->settings->channels, &run->first,
                          fault);
}

/* With a state file the daemon must answer, even if no case has to run: its build is part of the
 * fingerprint. */
static int find_setup(struct batch_run *run, struct fault *fault)
{
    if (!run->settings->resume || run->settings->list)
        return 0;
    if (!connector_is_embedded(run->options) && connect_first(run, fault))
        return -1;
    return connector_setup(&run->setup, run->options, &run->first, fault);
}

static enum exit_code run_cases(struct batch_run *run, struct batch *batch)
{
    const struct batch_settings *settings = run->settings;
    struct workers_plan plan = {.trial = settings->trial,
                                .connector = &run->connector,
                                .workers = settings->workers,
                                .fail_fast = settings->fail_fast,
                                .flaky_is_good = settings->flaky_is_good,
                                .cases = batch->todo,
                                .count = batch->todo_count};
    const struct workers_callbacks callbacks = batch_callbacks(batch);
    struct fault fault;

    plan.trial.repeat_now = &batch->repeat_now;
    plan.trial.attempt.contents = batch->contents;
    plan.trial.setup = run->setup;
    plan.trial.attempt.profile = run->profile;
    if (batch_begin(batch))
        return EXIT_CODE_FAILED;
    enum exit_code why = workers_run(&plan, &run->first, &callbacks, &fault);
    enum exit_code code = batch_end(batch, why);
    if (why != EXIT_CODE_DONE && why != EXIT_CODE_STOPPED)
        print_error("%s", fault.text);
    return code;
}

/* Loads --profile for the predicted times of cases. */
static int load_profile(struct batch_run *run, struct fault *fault)
{
    struct job_rules rules;
    const int status = job_rules_init(&rules, run->options, fault);

    run->profile = rules.profile;
    return status;
}

static enum exit_code run_or_fail(struct batch_run *run, struct batch *batch)
{
    struct fault fault;

    if (batch->todo_count > 0 && connect_first(run, &fault))
        return fail(run->options, &fault);
    return run_cases(run, batch);
}

static enum exit_code run_all(struct cases *cases, const struct batch_settings *settings,
                              const struct options *options)
{
    struct batch_run run = {.settings = settings, .options = options};
    struct batch batch = {.state_file.fd = -1};
    struct fault fault;
    enum exit_code code;

    raise_limit();
    if (load_profile(&run, &fault) || find_setup(&run, &fault)) {
        code = fail(options, &fault);
    } else {
        code = batch_open(&batch, settings, cases, options, &run.setup);
        if (code == EXIT_CODE_DONE)
            code = settings->list ? list(cases, options) : run_or_fail(&run, &batch);
    }
    daemon_link_finish(&run.first);
    connector_finish(&run.connector);
    free(run.profile);
    batch_finish(&batch);
    return code;
}

static enum exit_code batch(const struct options *options)
{
    struct batch_settings settings;

    if (options->argument_count > 0 && strcmp(options->arguments[0], "merge") == 0)
        return batch_merge(options);
    if (options->argument_count == 0)
        return command_misused(&cmd_batch);
    if (read_settings(&settings, options))
        return EXIT_CODE_INVALID;
    struct cases cases = {.except = settings.keep};
    enum exit_code code = collect(&cases, &settings, options);
    if (code == EXIT_CODE_DONE)
        code = run_all(&cases, &settings, options);
    cases_finish(&cases);
    return code;
}

static const struct example examples[] = {
    {"run all cases of a directory and write a report for a CI server",
     "mlictl batch cases --junit report.xml"},
    {"continue an interrupted run", "mlictl batch cases --resume state.jsonl"},
    {"run the cases of one of four machines", "mlictl batch cases --shard 1/4 --resume 1.jsonl"},
    {0},
};

const struct command cmd_batch = {
    .name = "batch",
    .arguments = "PATH...",
    .summary = "run job files as test cases",
    .details =
        "PATH is a job file (*.json), a directory with job files, or a manifest: any other file,\n"
        "with one path on each line; - is standard input. Outputs stay in memory.\n"
        "`mlictl batch merge STATE...` makes one report of the state files of all shards.\n",
    .options = options_table,
    .takes = &value_file, /* manifests and state files have any name */
    .first = &(const struct value){VALUE_FILE, (const char *const[]){"merge", NULL}},
    .examples = examples,
    .run = batch,
};
