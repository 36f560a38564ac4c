/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl completion: prints the completion script of a shell. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/completion/completion.h"
#include "cli/words.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static void (*const writers[])(FILE *) = {completion_bash, completion_zsh, completion_fish};
static const struct value shell_value = {VALUE_WORD, shells};

static const struct option options_table[] = {
    OPTIONS_COMMON,
};

static enum exit_code completion(const struct options *options)
{
    if (options->argument_count != 1)
        return command_misused(&cmd_completion);
    int shell = words_find("shell", options->arguments[0], shells);
    if (shell < 0)
        return EXIT_CODE_INVALID;
    writers[shell](stdout);
    return EXIT_CODE_DONE;
}

static const struct example examples[] = {
    {"in this bash or zsh, for a mlictl that is not installed", "source <(mlictl completion bash)"},
    {"for fish, as a file for its completions directory", "mlictl completion fish > mlictl.fish"},
    {0},
};

const struct command cmd_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print a completion script for a shell",
    .details = "The script completes commands, options, and values if they are known.\n",
    .options = options_table,
    .takes = &shell_value,
    .examples = examples,
    .run = completion,
};
