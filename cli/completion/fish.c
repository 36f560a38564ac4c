/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion/completion.h"

/* Conditions of the `complete` lines: the command of the line, and the place of the cursor. */
static const char helpers[] =
    "# fish completion for mlictl, as `mlictl completion fish` prints it\n"
    "\n"
    "# Prints the command of the line, if it has one.\n"
    "function __mlictl_command\n"
    "    set -l skip no\n"
    "    for word in (commandline -opc)[2..-1]\n"
    "        if test $skip = yes\n"
    "            set skip no\n"
    "            continue\n"
    "        end\n"
    "        switch $word\n"
    "            case ";

static const char helpers_end[] =
    "\n"
    "                set skip yes\n"
    "            case '-*'\n"
    "            case '*'\n"
    "                echo $word\n"
    "                return\n"
    "        end\n"
    "    end\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if the command line has COMMAND; '': no command\n"
    "function __mlictl_is\n"
    "    test \"$(__mlictl_command)\" = \"$argv[1]\"\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if the first argument of COMMAND is next\n"
    "function __mlictl_begins\n"
    "    __mlictl_is $argv[1]; and test (commandline -opc)[-1] = $argv[1]\n"
    "end\n"
    "\n"
    "# COMMAND: succeeds if a later argument of COMMAND is next\n"
    "function __mlictl_goes_on\n"
    "    __mlictl_is $argv[1]; and test (commandline -opc)[-1] != $argv[1]\n"
    "end\n"
    "\n"
    "# WORDS: prints the words, each after the entries of the current token up to its last comma\n"
    "function __mlictl_list\n"
    "    set -l before (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r "
    "'.*,')\n"
    "    printf '%s\\n' \"$before\"$argv\n"
    "end\n"
    "\n"
    "complete -c mlictl -f\n";

static void write_text(FILE *out, const char *text)
{
    completion_write_quoted(out, text, "\\", "\\", "\\'");
}

/* Writes the options of `complete` that offer the values. */
static void write_value(FILE *out, const struct value *value)
{
    if (!value)
        return;
    switch (value->kind) {
    case VALUE_FILE:
    case VALUE_PROFILE:
        fputs(" -F", out);
        if (!completion_has_words(value))
            break;
        fputs(" -a '", out);
        completion_write_words(out, value);
        fputs("'", out);
        break;
    case VALUE_JOB_FILE:
        fputs(" -k -a '(__fish_complete_suffix .json)'", out);
        break;
    case VALUE_DIRECTORY:
        fputs(" -a '(__fish_complete_directories)'", out);
        break;
    case VALUE_WORDS:
        fputs(" -a '(__mlictl_list ", out);
        completion_write_words(out, value);
        fputs(")'", out);
        break;
    case VALUE_ENGINE:
    case VALUE_COMMAND:
    case VALUE_WORD:
        fputs(" -a '", out);
        completion_write_words(out, value);
        fputs("'", out);
        break;
    }
}

static bool takes_file(const struct value *value)
{
    return value && (value->kind == VALUE_FILE || value->kind == VALUE_PROFILE);
}

static void write_condition(FILE *out, const char *condition, const char *command)
{
    fprintf(out, "complete -c mlictl -n '__mlictl_%s \"%s\"'", condition, command);
}

static void write_options(FILE *out, const char *command, const struct option *table)
{
    for (const struct option *o = table; o->name; o++) {
        write_condition(out, "is", command);
        if (o->letter)
            fprintf(out, " -s %c", o->letter);
        fprintf(out, " -l %s", o->name);
        if (o->value) {
            fputs(takes_file(o->takes) ? " -r" : " -x", out);
            write_value(out, o->takes);
        }
        if (*o->help) {
            fputs(" -d ", out);
            write_text(out, o->help);
        }
        fputs("\n", out);
    }
}

static void write_arguments(FILE *out, const char *condition, const char *command,
                            const struct value *value)
{
    if (!value)
        return;
    write_condition(out, condition, command);
    write_value(out, value);
    fputs("\n", out);
}

static void write_command(FILE *out, const struct command *command)
{
    fputs("\n", out);
    write_condition(out, "is", "");
    fprintf(out, " -a %s -d ", command->name);
    write_text(out, command->summary);
    fputs("\n", out);
    write_options(out, command->name, command->options);
    write_arguments(out, command->first ? "goes_on" : "is", command->name, command->takes);
    write_arguments(out, "begins", command->name, command->first);
}

void completion_fish(FILE *out)
{
    static const struct value commands = {VALUE_COMMAND, NULL};

    fputs(helpers, out);
    for (const struct option *o = command_leading; o->name; o++) {
        if (!o->value)
            continue;
        if (o->letter)
            fprintf(out, "-%c ", o->letter);
        fprintf(out, "--%s ", o->name);
    }
    fputs(helpers_end, out);
    write_options(out, "", command_leading);
    write_condition(out, "is", "");
    fputs(" -a help -d 'options and examples of a command'\n", out);
    write_arguments(out, "is", "help", &commands);
    for (size_t i = 0; command_at(i); i++)
        write_command(out, command_at(i));
}
