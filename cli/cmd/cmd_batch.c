/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch: runs job files as test cases; start with cli/batch/batch.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/cases.h"
#include "cli/batch/connector.h"
#include "cli/batch/goldens.h"
#include "cli/batch/workers.h"
#include "cli/cmd/command.h"
#include "cli/file/calls.h"
#include "cli/job/job_rules.h"
#include "cli/link/embedded.h"
#include "cli/link/tuning_choice.h"
#include "cli/report/report.h"
#include "cli/term/print.h"

static enum exit_code fail(const struct options *options, const struct fault *fault)
{
    const struct print_style style = options_style(options);

    return print_failure(&style, NULL, fault);
}

/* Finds the cases of all PATHs. */
static enum exit_code collect(struct cases *cases, const struct batch_settings *settings,
                              const struct options *options)
{
    struct fault fault;

    if (settings->open)
        return EXIT_CODE_DONE;
    if (cases_find(cases, options, 0, &fault))
        return fail(options, &fault);
    for (size_t i = 0; i < cases->count; i++) {
        if (batch_check_kept(settings, cases->list[i], &fault))
            return fail(options, &fault);
    }
    return EXIT_CODE_DONE;
}

static enum exit_code list(const struct cases *cases, const struct options *options)
{
    const struct print_style style = {.json = options_get(options, "json") != NULL};

    for (size_t i = 0; i < cases->count; i++) {
        struct jsonw w;

        print_line(&style, "%s", cases->list[i]->name);
        if (!style.json)
            continue;
        jsonw_init_object(&w);
        jsonw_string(&w, "name", cases->list[i]->name);
        jsonw_string(&w, "file", cases->list[i]->file);
        print_object(&w);
    }
    return EXIT_CODE_DONE;
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
    /* The settings choose which of these three sources delivers the cases. */
    struct source_list list;
    struct source_input input;
    struct source_queue queue;
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
    if ((!run->settings->resume && !run->settings->queue) || run->settings->list)
        return 0;
    if (!connector_is_embedded(run->options) && connect_first(run, fault))
        return -1;
    return connector_setup(&run->setup, run->options, &run->first, fault);
}

/* Sets the trials of a plan, and the number of its workers. */
static void set_plan(const struct batch_run *run, struct batch *batch, struct workers_plan *plan)
{
    const struct batch_settings *settings = run->settings;

    *plan = (struct workers_plan){.trial = settings->trial,
                                  .connector = &run->connector,
                                  .workers = settings->workers,
                                  .fail_fast = settings->fail_fast,
                                  .flaky_is_good = settings->flaky_is_good};
    if (!settings->open && batch->todo_count < settings->workers)
        plan->workers = (uint32_t)batch->todo_count;
    plan->trial.repeat_now = &batch->repeat_now;
    plan->trial.attempt.contents = batch->contents;
    plan->trial.setup = run->setup;
    plan->trial.attempt.profile = run->profile;
}

static struct case_source open_source(struct batch_run *run, struct batch *batch)
{
    if (run->settings->queue)
        return source_queue_of(&run->queue);
    if (run->settings->open) {
        run->input = (struct source_input){
            .fd = STDIN_FILENO, .cases = batch->cases, .admit = batch_admit, .context = batch};
        return source_input_init(&run->input);
    }
    run->list = (struct source_list){.cases = batch->todo, .count = batch->todo_count};
    return source_list_of(&run->list);
}

/* Finishes the source. Returns whether it has given all its cases. */
static bool close_source(struct batch_run *run)
{
    if (run->settings->queue)
        return run->queue.ended;
    if (!run->settings->open)
        return true;
    source_input_finish(&run->input);
    return run->input.ended;
}

static enum exit_code run_cases(struct batch_run *run, struct batch *batch)
{
    const struct workers_callbacks callbacks = batch_callbacks(batch);
    struct workers_plan plan;
    struct fault fault;

    set_plan(run, batch, &plan);
    if (batch_begin(batch))
        return EXIT_CODE_FAILED;
    plan.source = open_source(run, batch);
    enum exit_code why = workers_run(&plan, &run->first, &callbacks, &fault);
    const bool whole = close_source(run);
    enum exit_code code = batch_end(batch, why, whole);
    /* The failure of a worker after the last case is no error: all cases have run. */
    if (why != EXIT_CODE_DONE && why != EXIT_CODE_STOPPED && (batch->summary.not_run > 0 || !whole))
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

    run->queue = (struct source_queue){.cases = batch->cases, .contents = batch->contents};
    if (run->settings->queue && source_queue_open(&run->queue, run->options, &fault))
        return fail(run->options, &fault);
    if ((batch->todo_count > 0 || run->settings->open) && connect_first(run, &fault))
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

    descriptor_limit_raise(); /* each output in memory needs a descriptor */
    if (load_profile(&run, &fault) || find_setup(&run, &fault)) {
        code = fail(options, &fault);
    } else {
        code = batch_open(&batch, settings, cases, options, &run.setup);
        if (code == EXIT_CODE_DONE)
            code = settings->list ? list(cases, options) : run_or_fail(&run, &batch);
    }
    source_queue_finish(&run.queue);
    daemon_link_finish(&run.first);
    connector_finish(&run.connector);
    free(run.profile);
    batch_finish(&batch);
    return code;
}

static const struct form forms[] = {{"merge", "STATE...", IN_MERGE, batch_merge},
                                    {"enqueue", "--queue URL PATH...", IN_ENQUEUE, batch_enqueue},
                                    {"status", "--queue URL", IN_STATUS, batch_show_status},
                                    {"collect", "--queue URL", IN_COLLECT, batch_collect},
                                    {NULL}};

static enum exit_code run_form(const struct options *options, const struct form *form)
{
    char name[32];

    snprintf(name, sizeof(name), "batch %s", form->name);
    if (form->uses != IN_MERGE && !options_get(options, "queue"))
        return print_invalid("%s requires --queue URL; to run the cases of a directory with this "
                             "name, write ./%s",
                             name, form->name);
    return options_only(options, form->uses, name) ? EXIT_CODE_INVALID : form->run(options);
}

static enum exit_code batch(const struct options *options)
{
    struct batch_settings settings;
    const struct form *form =
        options->argument_count > 0 ? command_form(&cmd_batch, options->arguments[0]) : NULL;
    enum exit_code code;

    if (form)
        return run_form(options, form);
    if (options->argument_count == 0 && !options_get(options, "queue"))
        return command_misused(&cmd_batch);
    if (batch_settings_read(&settings, options))
        return EXIT_CODE_INVALID;
    struct print_style style = options_style(options);
    struct cases others = {0}, left_out = {0};
    struct cases cases = {
        .except = settings.keep, .others = settings.unused ? &others : NULL, .left_out = &left_out};
    code = collect(&cases, &settings, options);
    if (code == EXIT_CODE_DONE)
        code = settings.unused ? goldens_list_unused(&cases, &settings.trial.keeping, &style)
                               : run_all(&cases, &settings, options);
    cases_finish(&others);
    cases_finish(&left_out);
    cases_finish(&cases);
    return code;
}

const struct command cmd_batch = {
    .name = "batch",
    .arguments = "PATH...",
    .forms = forms,
    .summary = "run job files as test cases",
    .details =
        "PATH is a job file (*.json), a directory with job files, or a manifest: any other file,\n"
        "with one path on each line; - is standard input. Outputs stay in memory.\n"
        "`mlictl batch merge STATE...` makes one report of the state files of all shards.\n"
        "`mlictl batch enqueue --queue URL PATH...` adds cases to a queue on a server, `mlictl "
        "batch\n"
        "--queue URL` on any machine runs them, `mlictl batch collect --queue URL` reports the\n"
        "results, and `mlictl batch status --queue URL` shows the progress.\n",
    .options = batch_options,
    .takes =
        &value_file, /* complete any file name: manifests and state files have no fixed ending */
    .first = &(const struct value){VALUE_FILE, (const char *const[]){"merge", "enqueue", "collect",
                                                                     "status", NULL}},
    .examples = {{"run all cases of a directory and write a report for a CI server",
                  "mlictl batch cases --junit report.xml"},
                 {"continue an interrupted run", "mlictl batch cases --resume state.jsonl"},
                 {"run the cases of one of four machines",
                  "mlictl batch cases --shard 1/4 --resume 1.jsonl"}},
    .run = batch,
};
