/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl calibrate: measures moves on an engine and fits the cost figures of a target profile
 * (calibrate/calibrate.h), or measures the thresholds of libmli's kernels (calibrate/kernels.h).
 */
#include "cli/calibrate/kernels.h"
#include "cli/command.h"
#include "cli/term/print.h"

enum { SECONDS_MAX = 3600 };

static const struct option options_table[] = {
    {"kernels", 0, NULL, "Measure the thresholds of libmli's kernels, not the costs of moves."},
    {"seconds", 't', "N", "Measure for about N seconds, 1 to 3600 (default: 60 s)."},
    {"output", 'o', "FILE", "Write the result to FILE (default: print it only).",
     .takes = &value_file},
    OPTIONS_COMMON,
};

static enum exit_code measure_kernels(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct kernels_request request = {.output = options_get(options, "output")};

    if (options_uint(options, "seconds", 1, SECONDS_MAX, &request.seconds))
        return EXIT_CODE_INVALID;
    return calibrate_kernels(&style, &request);
}

static enum exit_code calibrate(const struct options *options)
{
    if (options->argument_count != 0)
        return command_misused(&cmd_calibrate);
    if (options_get(options, "kernels"))
        return measure_kernels(options);
    print_error("--kernels is required: this version measures kernels only");
    return EXIT_CODE_INVALID;
}

const struct command cmd_calibrate = {
    .name = "calibrate",
    .arguments = "",
    .summary = "measure this machine and write the figures to a file",
    .options = options_table,
    .run = calibrate,
};
