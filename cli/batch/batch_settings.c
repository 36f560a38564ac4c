/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/batch_settings.h"

#include <string.h>
#include <unistd.h>

#include "cli/batch/connector.h"
#include "cli/batch/workers.h"
#include "cli/file/place.h"
#include "cli/link/embedded.h"
#include "cli/report/report.h"
#include "cli/term/print.h"
#include "proto/wire/wire_limits.h"

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

/* Refuses options that a worker of a queue does not have, and options of a queue without one. */
static int check_queue(const struct options *options)
{
    static const char *const others[] = {"resume", "rerun", "shard",  "filter",       "list",
                                         "lease",  "again", "remove", "update-golden"};
    static const char *const own[] = {"password-file", "root",  "follow", "reconnect",
                                      "lease",         "again", "remove"};
    const bool queue = given(options, "queue");
    const char *const *names = queue ? others : own;
    const size_t count = queue ? sizeof(others) / sizeof(others[0]) : sizeof(own) / sizeof(own[0]);

    for (size_t i = 0; i < count; i++) {
        if (!given(options, names[i]))
            continue;
        if (queue)
            print_error("--%s cannot be combined with a worker of --queue", names[i]);
        else
            print_error("--%s requires --queue URL", names[i]);
        return -1;
    }
    if (!queue || options->argument_count == 0)
        return 0;
    print_error(
        "--queue takes its cases from the queue; to add the cases of a PATH, run mlictl batch "
        "enqueue --queue URL PATH");
    return -1;
}

/* Refuses options that cannot be combined. */
static int check(const struct options *options)
{
    if (check_files(options) || check_queue(options))
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
    return !given(options, "list") && options->argument_count == 1 &&
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
        .fail_fast = given(options, "fail-fast"),
        .open = is_open(options)};
    settings->trial.options = options;
    settings->trial.attempt.update_golden = given(options, "update-golden");
    read_keep(settings, options);
    if (check(options) || read_numbers(settings, options) || read_shard(settings, options))
        return -1;
    return batch_report_flaky(options, &settings->flaky_is_good);
}
