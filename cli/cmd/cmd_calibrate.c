/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl calibrate: measures moves on an engine and fits the costs of a target profile
 * (calibrate/calibration.h), or measures the thresholds of libmli's kernels (calibrate/kernels.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/calibrate/calibration.h"
#include "cli/calibrate/kernel_search.h"
#include "cli/cmd/command.h"
#include "cli/engine_arg.h"
#include "cli/file/calls.h"
#include "cli/file/output.h"
#include "cli/link/tuning_choice.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "cli/term/terminal.h"
#include "target/profile/profile_load.h"

#define SEED_MAX ((UINT64_C(1) << 53) - 1) /* largest seed that a JSON number holds exactly */
enum { SECONDS = 60, SECONDS_MAX = 3600, CHECK = 1000, CHECK_MAX = 1000 * 1000, DATE_MAX = 16 };

static const struct option options_table[] = {
    {"engine", "SPEC", "Measure moves on this engine, as in threads:tiny=0 (default: inline).",
     .takes = &value_engine},
    {"profile", "NAME", "Start from this target profile: a name or a path (default: host).",
     .takes = &value_profile},
    {"output", "FILE", "Write the result to FILE (default: print the errors only).",
     .takes = &value_file},
    {"force", NULL, "Replace an existing FILE."},
    {"seconds", "N", "Measure for about N seconds, 1 to 3600 (default: 60 s).", .old = "t"},
    {"check", "N", "Check the result with N other moves, 0 to 1000000 (default: 1000).",
     .old = "n"},
    {"seed", "N", "Use seed N for the random moves (default: a random seed, which is printed)."},
    {"kernels", NULL, "Measure the thresholds of libmli's kernels, not the costs of moves."},
    TUNING_OPTION,
    OPTIONS_COMMON,
};

static enum exit_code measure_kernels(const struct options *options)
{
    static const char *const others[] = {"engine", "profile", "check", "seed", "tuning"};
    const struct print_style style = options_style(options);
    uint64_t seconds = SECONDS;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (options_get(options, others[i]))
            return print_invalid("--%s cannot be combined with --kernels", others[i]);
    }
    if (options_number(options, "seconds", UNIT_S, 1, SECONDS_MAX, &seconds))
        return EXIT_CODE_INVALID;
    return calibrate_kernels(&style, options_get(options, "output"), seconds);
}

/* The progress line. */
struct line {
    bool wanted;
    uint64_t shown_ns;
};

static void show_line(void *context, const char *step, double done, size_t moves)
{
    struct line *line = context;
    const uint64_t now = clock_ns();
    char text[128];

    if (!line->wanted || now - line->shown_ns < UINT64_C(100) * CLOCK_NS_PER_MS)
        return;
    line->shown_ns = now;
    snprintf(text, sizeof text, "%s: %zu moves, %.0f %%", step, moves, done * 100);
    terminal_line_show(text);
}

static const char *today(char out[DATE_MAX])
{
    const time_t now = time(NULL);
    struct tm date;

    if (!gmtime_r(&now, &date) || strftime(out, DATE_MAX, "%Y-%m-%d", &date) == 0)
        snprintf(out, DATE_MAX, "unknown date");
    return out;
}

static int write_profile(struct output *output, const struct calibration *calibration,
                         struct fault *fault)
{
    struct jsonw w;
    const char *text;
    int result = -1;

    calibration_write(&w, calibration);
    text = jsonw_text(&w);
    if (!text)
        fault_set(fault, FAULT_INTERNAL, NULL, "out of memory for the profile");
    else
        result = output_write(output, text, strlen(text), 0, fault);
    jsonw_finish(&w);
    return result < 0 ? -1 : output_commit_synced(output, false, fault);
}

static void print_result(const struct print_style *style, const struct calibration *calibration,
                         uint64_t seed, const char *path)
{
    struct textw text = {0};
    struct jsonw w;

    if (style->json) {
        jsonw_init(&w);
        calibration_json(&w, calibration, seed, path);
        print_json(&w);
    } else if (!style->quiet) {
        calibration_text(&text, calibration, path);
        print_text(&text);
    }
}

/* Calibrates with a line of progress. */
static int run(struct calibration *calibration, struct calibration_rules *rules,
               const struct print_style *style, struct fault *fault)
{
    struct line line = {.wanted = meter_wanted(style)};
    int result;

    rules->progress = show_line;
    rules->context = &line;
    if (line.wanted)
        terminal_line_begin(STDERR_FILENO);
    result = calibration_run(calibration, rules, fault);
    if (line.wanted)
        terminal_line_end();
    if (result == 0 && calibration->stopped)
        return cancel_fault(fault);
    return result;
}

static int read_rules(const struct options *options, struct calibration_rules *rules)
{
    const char *engine = options_get(options, "engine");
    uint64_t seconds = SECONDS, check = CHECK;

    *rules = (struct calibration_rules){
        .engine = engine ? engine : "inline", .seed = random_number(), .stop = cancel_requested};
    if (options_number(options, "seconds", UNIT_S, 1, SECONDS_MAX, &seconds) ||
        options_uint(options, "check", 0, CHECK_MAX, &check) ||
        options_uint(options, "seed", 0, SEED_MAX, &rules->seed))
        return -1;
    rules->time_ns = seconds * 1000000000;
    rules->check = check;
    return 0;
}

static enum exit_code measure_costs(const struct options *options)
{
    const struct print_style style = options_style(options);
    const char *path = options_get(options, "output"), *name = options_get(options, "profile");
    struct calibration *calibration = calloc(1, sizeof *calibration);
    enum exit_code code = EXIT_CODE_DONE;
    struct output output = {.directory = -1, .fd = -1};
    struct calibration_rules rules;
    char date[DATE_MAX];
    struct fault fault;

    if (!calibration)
        return print_no_memory();
    if (read_rules(options, &rules)) {
        free(calibration);
        return EXIT_CODE_INVALID;
    }
    rules.date = today(date);
    if (profile_load(&calibration->profile, name ? name : "host", &fault) < 0) {
        code = print_failure(&style, name, &fault);
    } else if (engine_arg_check(rules.engine, &fault) ||
               (path && output_init(&output, path, NULL, &fault) < 0)) {
        code = print_failure(&style, NULL, &fault);
    } else {
        print_line(&style, "seed %" PRIu64, rules.seed);
        print_flush();
        if (run(calibration, &rules, &style, &fault) < 0 ||
            (path && write_profile(&output, calibration, &fault) < 0))
            code = print_failure(&style, NULL, &fault);
        else
            print_result(&style, calibration, rules.seed, path);
    }
    if (path)
        output_finish(&output);
    calibration_finish(calibration);
    free(calibration);
    return code;
}

/* The previous version replaced files without --force. */
static void remark_on_existing(const struct options *options)
{
    const char *path = options_get(options, "output");

    if (path && !options_get(options, "force") && access(path, F_OK) == 0)
        print_error("remark: %s exists; the next version replaces it only with --force", path);
}

static enum exit_code calibrate(const struct options *options)
{
    remark_on_existing(options);
    return options_get(options, "kernels") ? measure_kernels(options) : measure_costs(options);
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .arguments = "",
    .summary = "measure this machine and write the figures to a file",
    .details =
        "Measures random moves, and fits the costs of a target profile to them. Then measures\n"
        "other moves, and prints how far the predictions for them are off.\n",
    .options = options_table,
    .examples = {{"measure this machine for a second",
                  "mlictl calibrate --seconds 1 --check 100 -o machine.json"},
                 {"measure another engine, and write no file",
                  "mlictl calibrate --seconds 1 --check 100 --engine threads"}},
    .run = calibrate,
};
