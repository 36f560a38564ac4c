/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/settings.h"

#include <string.h>
#include <unistd.h>

#include "cli/batch/connector.h"
#include "cli/batch/filter.h"
#include "cli/batch/report.h"
#include "cli/batch/runner.h"
#include "cli/file/place.h"
#include "cli/link/embedded.h"
#include "cli/term/print.h"
#include "proto/bounds.h"

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
    return count < 1 ? 1 : count > RUNNER_WORKERS_MAX ? RUNNER_WORKERS_MAX : (uint32_t)count;
}

static int read_numbers(struct settings *settings, const struct options *options)
{
    struct trial_plan *trial = &settings->trial;
    settings->workers = given(options, "host") ? 1 : processors();
    trial->repeat = 1;
    if (read_number(options, "jobs", 1, RUNNER_WORKERS_MAX, &settings->workers) ||
        read_number(options, "retries", 0, ATTEMPTS_MAX, &trial->retries) ||
        read_number(options, "repeat", 1, ATTEMPTS_MAX, &trial->repeat) ||
        read_number(options, "timeout", 1, JOB_TIMEOUT_MAX_MS, &trial->attempt.timeout_ms))
        return -1;
    return embedded_channels(options, &settings->channels);
}

/* The report would take the place of what --resume has written. */
static int check_files(const struct options *options)
{
    const char *resume = options_get(options, "resume"), *junit = options_get(options, "junit");
    if (!resume || !junit || strcmp(junit, "-") == 0 || !place_same_file(resume, junit))
        return 0;
    print_error("--resume and --junit: both are %s", resume);
    return -1;
}

/* Options that go together, or do not. */
static int check(const struct options *options)
{
    if (check_files(options))
        return -1;
    if (given(options, "rerun") && !given(options, "resume")) {
        print_error("--rerun: of what --resume knows; give that, too");
        return -1;
    }
    if (given(options, "update-golden") &&
        (given(options, "retries") || given(options, "repeat"))) {
        print_error(
            "--update-golden: not with --retries and --repeat: one attempt is written down");
        return -1;
    }
    if (!connector_is_embedded(options) &&
        (given(options, "engine") || given(options, "channels"))) {
        print_error("--engine and --channels are for the service in this process; not with "
                    "--socket and --host");
        return -1;
    }
    return filter_check(options);
}

static int read_shard(struct settings *settings, const struct options *options)
{
    struct fault fault;
    const char *text = options_get(options, "shard");
    if (!text || shard_choose(text, &settings->shard, &fault) == 0)
        return 0;
    print_error("--shard %s", fault.text);
    return -1;
}

static void read_keep(struct settings *settings, const struct options *options)
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

int settings_read(struct settings *settings, const struct options *options)
{
    *settings = (struct settings){.resume = options_get(options, "resume"),
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
