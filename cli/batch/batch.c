/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/connector.h"
#include "cli/batch/goldens.h"
#include "cli/batch/kept.h"
#include "cli/batch/resume.h"
#include "cli/file/place.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "proto/wire/wire_limits.h"

enum { ATTEMPTS_MAX = 1000 * 1000 };

static bool given(const struct options *options, const char *name)
{
    return options_get(options, name) != NULL;
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
    uint64_t timeout_ms = 0;
    if (options_u32(options, "jobs", 1, WORKERS_MAX, &settings->workers) ||
        options_u32(options, "retries", 0, ATTEMPTS_MAX, &trial->retries) ||
        options_u32(options, "repeat", 1, ATTEMPTS_MAX, &trial->repeat) ||
        options_number(options, "timeout", UNIT_MS, 1, JOB_TIMEOUT_MAX_MS, &timeout_ms) ||
        options_u32(options, "channels", 1, MLI_MOV_MAX_CHANNELS, &settings->channels))
        return -1;
    trial->attempt.timeout_ms = (uint32_t)timeout_ms;
    return 0;
}

/* Refuses a report that would replace the state file. */
static int check_files(const struct options *options)
{
    const char *resume = options_get(options, "resume"), *junit = options_get(options, "junit");

    if (!resume || !junit || strcmp(junit, "-") == 0 || !place_same_file(resume, junit))
        return 0;
    return print_refusal("--resume and --junit cannot be the same file: %s", resume);
}

/* With --queue, refuses options that a worker does not have; else, options that need a queue. */
static int check_queue(const struct options *options)
{
    const bool queue = given(options, "queue");
    const unsigned form = queue ? IN_WORKER : IN_RUN;

    for (const struct option *o = options->table; o->name; o++) {
        if (!options->values[o - options->table] || !(o->uses & BATCH_FORMS) || o->uses & form)
            continue;
        if (queue)
            return print_refusal("--%s cannot be combined with a worker of --queue", o->name);
        return print_refusal("--%s requires --queue URL", o->name);
    }
    if (!queue || options->argument_count == 0)
        return 0;
    return print_refusal(
        "--queue takes its cases from the queue; to add the cases of a PATH, run mlictl batch "
        "enqueue --queue URL PATH");
}

/* Refuses options that cannot be combined. */
static int check(const struct options *options)
{
    if (check_files(options) || check_queue(options))
        return -1;
    if (given(options, "unused") &&
        (given(options, "filter") || given(options, "shard") || given(options, "list")))
        return print_refusal("--unused cannot be combined with --filter, --shard or --list: it "
                             "needs all cases");
    if (given(options, "rerun") && !given(options, "resume"))
        return print_refusal("--rerun requires --resume STATE");
    if (given(options, "update-golden") && (given(options, "retries") || given(options, "repeat")))
        return print_refusal("--update-golden cannot be combined with --retries or --repeat");
    if (!connector_is_embedded(options) &&
        (given(options, "engine") || given(options, "channels") || given(options, "profile") ||
         given(options, "tuning")))
        return print_refusal(
            "--engine, --channels, --profile and --tuning cannot be combined with --socket "
            "or --host: a daemon has its own");
    return cases_check_filter(options);
}

static int read_shard(struct batch_settings *settings, const struct options *options)
{
    struct fault fault;
    const char *text = options_get(options, "shard");

    if (!text || shard_choose(text, &settings->shard, &fault) == 0)
        return 0;
    return print_refusal("--shard %s", fault.text);
}

static void read_keep(struct batch_settings *settings, const struct options *options)
{
    const char *directory = options_get(options, "keep");
    bool none = directory && strcmp(directory, "none") == 0;

    settings->keep = directory && !none ? directory : BATCH_KEEP;
    settings->trial.keeping =
        (struct keeping){.directory = none ? NULL : settings->keep,
                         .is_ours = access(settings->keep, F_OK) != 0,
                         .origin = kept_origin(options->arguments, options->argument_count),
                         .sync = settings->resume != NULL};
    settings->trial.attempt.keep = !none;
}

/* Returns whether the cases are not known before the run: `batch -` without other PATHs, --queue.
 */
static bool is_open(const struct options *options)
{
    if (given(options, "queue"))
        return true;
    return !given(options, "list") && !given(options, "unused") && options->argument_count == 1 &&
           strcmp(options->arguments[0], "-") == 0;
}

int batch_settings_read(struct batch_settings *settings, const struct options *options)
{
    *settings = (struct batch_settings){
        .resume = options_get(options, "resume"),
        .whole = !given(options, "filter") && !given(options, "shard") && !given(options, "queue"),
        .queue = given(options, "queue"),
        .rerun = given(options, "rerun"),
        .list = given(options, "list"),
        .unused = given(options, "unused"),
        .fail_fast = given(options, "fail-fast"),
        .open = is_open(options)};
    settings->trial.options = options;
    settings->trial.attempt.update_golden = given(options, "update-golden");
    settings->trial.attempt.require_expect = given(options, "require-expect");
    read_keep(settings, options);
    if (check(options) || read_numbers(settings, options) || read_shard(settings, options))
        return -1;
    return batch_report_flaky(options, &settings->flaky_is_good);
}

static bool is_of_shard(const void *context, const char *name)
{
    const struct shard *shard = context;

    return shard_of(name, shard->count) == shard->index;
}

static void outline(struct batch *batch)
{
    struct cases *cases = batch->cases;
    const struct shard *shard = &batch->settings->shard;

    batch->outline = (struct batch_outline){
        .total = cases->count, .shard = *shard, .open = batch->settings->open};
    for (size_t i = 0; i < cases->count; i++)
        batch->outline.set = digest_add(batch->outline.set, cases->list[i]->name);
    if (shard->count)
        cases_retain(cases, is_of_shard, shard);
    batch->outline.selected = cases->count;
}

/* Returns "of shard 1/4", or "of all shards" without --shard. */
static const char *part_text(char out[PRINT_TEXT_MAX], const struct shard *shard)
{
    char text[SHARD_TEXT_MAX];

    if (shard->count == 0)
        return "of all shards";
    snprintf(out, PRINT_TEXT_MAX, "of shard %s", shard_text(text, shard));
    return out;
}

/*
 * Refuses a state file of another shard: merge would treat two shards in one file as one shard.
 * Results of other cases are allowed, because cases may change between runs and --filter selects
 * some.
 */
static int check_state(const struct batch *batch)
{
    const struct shard *now = &batch->outline.shard, *then = &batch->state_file.state.outline.shard;
    char one[PRINT_TEXT_MAX], other[PRINT_TEXT_MAX];

    if (!batch->state_file.state.begun || (now->index == then->index && now->count == then->count))
        return 0;
    return print_refusal(
        "%s is a state file %s, but this run is %s; give each shard its own --resume STATE",
        batch->settings->resume, part_text(one, then), part_text(other, now));
}

static enum exit_code open_state_file(struct batch *batch)
{
    struct fault fault;

    if (!batch->settings->resume && !batch->settings->queue)
        return EXIT_CODE_DONE;
    batch->contents = contents_create();
    if (!batch->contents)
        return print_no_memory();
    if (!batch->settings->resume)
        return EXIT_CODE_DONE;
    batch->has_state_file = true;
    if (state_file_open(&batch->state_file, batch->settings->resume, &fault)) {
        print_error("%s", fault.text);
        return exit_code_of(&fault);
    }
    return check_state(batch) ? EXIT_CODE_INVALID : EXIT_CODE_DONE;
}

/* Sets batch_case->known if the state file has a valid result. */
static void find_known(struct batch *batch, struct batch_case *batch_case)
{
    const struct batch_settings *settings = batch->settings;
    const struct resume resume = {.rerun = settings->rerun,
                                  .flaky_is_good = settings->flaky_is_good,
                                  .keeping = &settings->trial.keeping,
                                  .state = &batch->state_file.state,
                                  .setup = batch->setup,
                                  .contents = batch->contents};

    if (!batch->has_state_file)
        return;
    batch_case->known = resume_find(&resume, batch_case);
    batch_case->passed = batch_case->known && case_status_is_good(batch_case->known->status, true);
}

static int choose(struct batch *batch)
{
    struct cases *cases = batch->cases;

    batch->todo = calloc(cases->count + 1, sizeof(*batch->todo));
    if (!batch->todo)
        return -1;
    for (size_t i = 0; i < cases->count; i++) {
        struct batch_case *batch_case = cases->list[i];

        find_known(batch, batch_case);
        if (batch_case->known) {
            batch->outline.resumed++;
            batch->outline.resumed_set = digest_add(batch->outline.resumed_set, batch_case->name);
        } else {
            batch->todo[batch->todo_count++] = batch_case;
        }
    }
    return 0;
}

int batch_check_kept(const struct batch_settings *settings, const struct batch_case *batch_case,
                     struct fault *fault)
{
    const char *keep = settings->trial.keeping.directory;
    char shown[2][PRINT_PATH_MAX];

    if (!keep || settings->list || !kept_holds(keep, batch_case->file))
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s was kept in %s, where this run replaces and removes kept cases: "
                     "give another --keep DIR, or --keep none",
                     print_path(shown[0], batch_case->file), print_path(shown[1], keep));
}

enum admission batch_admit(void *context, struct batch_case *batch_case, struct fault *fault)
{
    struct batch *batch = context;
    struct batch_outline *outline = &batch->outline;
    const struct shard *shard = &outline->shard;

    if (!cases_filter_selects(batch->settings->trial.options, batch_case->name))
        return CASE_LEFT_OUT;
    if (batch_check_kept(batch->settings, batch_case, fault))
        return CASE_REFUSED;
    outline->total++;
    outline->set = digest_add(outline->set, batch_case->name);
    if (shard->count && !is_of_shard(shard, batch_case->name))
        return CASE_LEFT_OUT;
    outline->selected++;
    find_known(batch, batch_case);
    return CASE_ADMITTED;
}

enum exit_code batch_open(struct batch *batch, const struct batch_settings *settings,
                          struct cases *cases, const struct options *options,
                          const struct run_setup *setup)
{
    *batch =
        (struct batch){.settings = settings, .cases = cases, .setup = setup, .state_file.fd = -1};
    outline(batch);
    if (settings->list)
        return EXIT_CODE_DONE;
    enum exit_code code = open_state_file(batch);
    if (code == EXIT_CODE_DONE && choose(batch))
        code = print_no_memory();
    if (code == EXIT_CODE_DONE)
        code = batch_report_create(options, &batch->report);
    return code;
}

/* Prints a failure to write the state file at once. Returns 0 or -1. */
static int written(struct batch *batch, int status, const struct fault *fault)
{
    if (status == 0)
        return 0;
    batch->write_failed = true;
    return print_refusal("%s", fault->text);
}

static void report_ended(struct batch *batch, const struct case_result *result)
{
    batch_summary_add(&batch->summary, result);
    batch_report_ended(batch->report, result);
}

/*
 * Adds results to the reports in the order of the names, up to the first case that has not ended.
 * So the reports are sorted although they are written while cases run. At the end of the run
 * (`all`), also reports the cases that have not run. An open run, whose names are not known before
 * its end, has added each result when its case ended.
 */
static void report_in_order(struct batch *batch, bool all)
{
    for (; batch->next < batch->cases->count; batch->next++) {
        struct batch_case *batch_case = batch->cases->list[batch->next];
        const struct case_result *result = batch_case->known ? batch_case->known : batch_case->held;

        if (result && !batch->settings->open) {
            batch_report_result(batch->report, result);
            if (batch_case->held)
                case_result_finish(batch_case->held);
            free(batch_case->held);
        } else if (!result && !batch_case->ended) {
            if (!all)
                return;
            batch->summary.not_run++;
            batch_report_not_run(batch->report, batch_case->name, batch_case->file);
        }
    }
}

/* Moves a result to batch_case->held, without its fingerprint, which no report shows. Returns 0, or
 * -1 if out of memory. */
static int hold(struct batch_case *batch_case, struct case_result *result)
{
    batch_case->held = malloc(sizeof(*result));
    if (!batch_case->held)
        return -1;
    fingerprint_finish(&result->fingerprint);
    *batch_case->held = *result;
    *result = (struct case_result){0};
    return 0;
}

/* Reports a known result, and keeps it in the state file. */
static void reuse(struct batch *batch, const struct case_result *result)
{
    struct fault fault;

    report_ended(batch, result);
    if (!batch->write_failed)
        written(batch, state_file_keep(&batch->state_file, result, &fault), &fault);
}

int batch_begin(struct batch *batch)
{
    struct fault fault;

    batch->begin_ns = clock_ns();
    clock_gettime(CLOCK_REALTIME_COARSE, &batch->begin);
    if (batch->has_state_file &&
        written(batch, state_file_begin(&batch->state_file, &batch->outline, &fault), &fault))
        return -1;
    batch_report_begin(batch->report, &batch->outline);
    resume_report(batch->report, batch->todo, batch->todo_count);
    for (size_t i = 0; i < batch->cases->count && batch->outline.resumed > 0; i++) {
        if (batch->cases->list[i]->known)
            reuse(batch, batch->cases->list[i]->known);
    }
    report_in_order(batch, false);
    return 0;
}

static bool case_ended(void *context, struct batch_case *batch_case, struct trial *trial)
{
    struct batch *batch = context;
    struct fault fault;

    batch_case->ended = true;
    batch_case->passed = case_status_is_good(trial->result.status, true);
    batch->has_new |= trial->has_new;
    if (batch->has_state_file && !batch->write_failed)
        written(batch, state_file_add(&batch->state_file, &trial->result, &fault), &fault);
    report_ended(batch, &trial->result);
    if (trial->complains && !batch->complained) {
        batch->complained = true;
        print_error("--keep: %s", trial->fault.text);
    }
    /* If out of memory, a report in another order is better than none. */
    if (batch->settings->open || hold(batch_case, &trial->result))
        batch_report_result(batch->report, &trial->result);
    else
        report_in_order(batch, false);
    return !batch->write_failed;
}

static void case_reused(void *context, const struct batch_case *batch_case)
{
    struct batch *batch = context;

    batch->summary.resumed++;
    reuse(batch, batch_case->known);
    batch_report_result(batch->report, batch_case->known);
}

/* Reports a refused line of standard input, as a case that did not run. */
static void case_refused(void *context, const struct fault *fault)
{
    struct batch *batch = context;

    batch->summary.not_run++;
    batch->refused = true;
    print_error("%s", fault->text);
    batch_report_problem(batch->settings->trial.options, NULL, NULL, fault->text);
    batch_report_gap(batch->report, "standard input", fault->text);
}

static void note(void *context, struct batch_case *batch_case, const struct fault *fault)
{
    struct batch *batch = context;

    if (batch_case)
        batch_case->ended = batch_case->passed = true;
    batch_report_note(batch->report, fault->text);
    batch_report_problem(batch->settings->trial.options, NULL, NULL, fault->text);
}

static void tick(void *context)
{
    struct batch *batch = context;
    struct fault fault;
    uint32_t now = atomic_load_explicit(&batch->repeat_now, memory_order_relaxed);

    batch_report_tick(batch->report, clock_ns() - batch->begin_ns, now,
                      batch->settings->trial.repeat);
    if (batch->has_state_file && !batch->write_failed)
        written(batch, state_file_tick(&batch->state_file, &fault), &fault);
}

struct workers_callbacks batch_callbacks(struct batch *batch)
{
    return (struct workers_callbacks){.ended = case_ended,
                                      .reused = case_reused,
                                      .refused = case_refused,
                                      .note = note,
                                      .tick = tick,
                                      .context = batch};
}

/* Removes GOLDEN.new of cases that pass now; after a complete run also the kept copies of these
 * cases. */
static void clean(const struct batch *batch, bool whole)
{
    const struct keeping *keeping = &batch->settings->trial.keeping;
    const bool all = whole && batch->settings->whole;

    if (batch->has_new && (all || !batch->settings->open)) /* else some cases are unknown */
        goldens_clean(batch->cases, batch->report);
    if (!keeping->directory)
        return;
    kept_end(keeping->directory);
    if (batch->summary.not_run == 0)
        kept_clean(keeping, batch->cases, all, &batch->begin);
}

/* Writes to the state file which cases the run had. An open run knows this only after its last
 * case. */
static void close_outline(struct batch *batch)
{
    struct fault fault;

    batch->outline.open = false;
    if (batch->has_state_file && !batch->write_failed)
        written(batch, state_file_outline(&batch->state_file, &batch->outline, &fault), &fault);
}

/* Reports that an open run has no cases: that is an error, like a directory without cases. */
static void refuse_nothing(struct batch *batch)
{
    static const char text[] = "standard input names no cases, or --filter selects none of them";

    batch->refused = true;
    print_error("%s", text);
    batch_report_problem(batch->settings->trial.options, NULL, NULL, text);
}

enum exit_code batch_end(struct batch *batch, enum exit_code exit, bool whole)
{
    struct batch_summary *summary = &batch->summary;
    struct fault fault;

    report_in_order(batch, true);
    clean(batch, whole);
    if (whole && batch->outline.open && !batch->refused)
        close_outline(batch);
    if (whole && batch->settings->open && !batch->settings->queue && batch->outline.total == 0 &&
        !batch->refused)
        refuse_nothing(batch);
    summary->ns = clock_ns() - batch->begin_ns;
    summary->exit = batch_summary_exit(summary, batch->settings->flaky_is_good);
    if (batch->write_failed)
        summary->exit = EXIT_CODE_FAILED;
    if (batch->refused)
        summary->exit = EXIT_CODE_INVALID;
    if (exit != EXIT_CODE_DONE && (summary->not_run > 0 || !whole))
        summary->exit = exit;
    if (batch->has_state_file && !batch->write_failed &&
        written(batch, state_file_end(&batch->state_file, summary, &fault), &fault) &&
        summary->exit == EXIT_CODE_DONE)
        summary->exit = EXIT_CODE_FAILED;
    return batch_report_end(batch->report, summary);
}

void batch_finish(struct batch *batch)
{
    batch_report_destroy(batch->report);
    state_file_close(&batch->state_file);
    contents_destroy(batch->contents);
    free(batch->todo);
}
