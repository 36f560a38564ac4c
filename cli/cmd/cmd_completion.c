/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl completion: what a shell needs to complete command lines. */
#include <stdio.h>

#include "bash_completion.h"
#include "command.h"
#include "words.h"

static const char *const shells[] = {"bash", NULL};
static const struct value shell_value = {VALUE_WORD, shells};

static const struct option options_table[] = {
    OPTIONS_COMMON,
};

static enum exit_code completion(const struct options *options)
{
    if (options->argument_count != 1)
        return command_misused(&cmd_completion);
    if (words_find("shell", options->arguments[0], shells) < 0)
        return EXIT_CODE_INVALID;
    bash_completion_write(stdout);
    return EXIT_CODE_DONE;
}

static const struct example examples[] = {
    {"in this shell; an installed mlictl needs it not", "source <(mlictl completion bash)"},
    {0},
};

const struct command cmd_completion = {
    .name = "completion",
    .arguments = "bash",
    .summary = "print what a shell needs to complete command lines",
    .details = "A script for bash: commands, options, and values where they are known.\n",
    .options = options_table,
    .takes = &shell_value,
    .examples = examples,
    .run = completion,
};
