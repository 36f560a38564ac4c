/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion/completion.h"

/*
 * Helper functions, the same for all commands. bash splits words at "=" and ":", so "--name=value"
 * arrives as three words. compopt fails outside a completion, as in a test that calls the function.
 */
static const char helpers[] =
    "# bash completion for mlictl, as `mlictl completion bash` prints it\n"
    "# shellcheck shell=bash\n"
    "\n"
    "# WORDS: offers the words that begin with $current\n"
    "_mlictl_words()\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n"
    "}\n"
    "\n"
    "# WORDS: offers words after the last comma\n"
    "_mlictl_list()\n"
    "{\n"
    "    local before=''\n"
    "    [[ $current == *,* ]] && before=${current%,*},\n"
    "    compopt -o nospace 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\")\n"
    "}\n"
    "\n"
    "# [ENDING]: offers files with the ending, and directories\n"
    "_mlictl_files()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(\n"
    "        [[ $1 ]] && compgen -d -- \"$current\"\n"
    "        compgen -f -X \"!*$1\" -- \"$current\"\n"
    "    )\n"
    "}\n"
    "\n"
    "# WORDS: offers the words, and files\n"
    "_mlictl_words_or_files()\n"
    "{\n"
    "    local words\n"
    "    _mlictl_words \"$1\"\n"
    "    words=(\"${COMPREPLY[@]}\")\n"
    "    _mlictl_files\n"
    "    COMPREPLY+=(\"${words[@]}\")\n"
    "}\n"
    "\n"
    "_mlictl_directories()\n"
    "{\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
    "}\n"
    "\n";

static const char beginning[] =
    "_mlictl()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command='' ended='' i\n"
    "    COMPREPLY=()\n"
    "    if [[ $current == = ]]; then\n"
    "        current=\n"
    "    elif [[ $option == = ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    elif [[ $option == : ]]; then\n"
    "        return # inside an address, or the options of an engine\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --)\n"
    "            ended=yes\n"
    "            ;;\n";

static const char middle[] =
    "            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))\n"
    "            ((i++))\n"
    "            while [[ ${COMP_WORDS[i + 1]} == : ]]; do ((i += 2)); done\n"
    "            ;;\n"
    "        -*) ;;\n"
    "        *)\n"
    "            [[ $command ]] || command=${COMP_WORDS[i]}\n"
    "            ;;\n"
    "        esac\n"
    "    done\n"
    "    [[ $ended ]] && option=\n"
    "    case $command in\n";

static const char end[] = "    esac\n"
                          "}\n"
                          "complete -F _mlictl mlictl\n";

/* Writes the call that offers the values; null: no values. */
static void write_value(FILE *out, const struct value *value)
{
    if (!value) {
        fputs(":", out);
        return;
    }
    switch (value->kind) {
    case VALUE_FILE:
    case VALUE_PROFILE:
        fputs(completion_has_words(value) ? "_mlictl_words_or_files \"" : "_mlictl_files", out);
        if (!completion_has_words(value))
            break;
        completion_write_words(out, value);
        fputs("\"", out);
        break;
    case VALUE_JOB_FILE:
        fputs("_mlictl_files .json", out);
        break;
    case VALUE_DIRECTORY:
        fputs("_mlictl_directories", out);
        break;
    case VALUE_ENGINE:
    case VALUE_COMMAND:
    case VALUE_WORD:
    case VALUE_WORDS:
        fputs(value->kind == VALUE_WORDS ? "_mlictl_list \"" : "_mlictl_words \"", out);
        completion_write_words(out, value);
        fputs("\"", out);
        break;
    }
}

/* "--name", or "-n | --name" as a pattern. */
static void write_pattern(FILE *out, const struct option *option)
{
    if (option->letter)
        fprintf(out, "-%c | ", option->letter);
    fprintf(out, "--%s", option->name);
}

static void write_options(FILE *out, const struct option *table)
{
    for (const struct option *o = table; o->name; o++)
        fprintf(out, "%s--%s", o == table ? "" : " ", o->name);
}

/* Offers the first argument after the command. */
static void write_arguments(FILE *out, const struct value *arguments, const struct value *first)
{
    if (first) {
        fputs("if [[ $option == \"$command\" ]]; then\n                ", out);
        write_value(out, first);
        fputs("\n                return\n            fi\n            ", out);
    }
    write_value(out, arguments);
}

/* Writes the case of a command: the values of its options, the options, the arguments. */
static void write_case(FILE *out, const struct option *table, const struct value *arguments,
                       const struct value *first)
{
    fputs("        case $option in\n", out);
    for (const struct option *o = table; o->name; o++) {
        if (!o->value)
            continue;
        fputs("        ", out);
        write_pattern(out, o);
        fputs(")\n            ", out);
        write_value(out, o->takes);
        fputs("\n            return\n            ;;\n", out);
    }
    fputs("        esac\n"
          "        if [[ $current == -* && ! $ended ]]; then\n"
          "            _mlictl_words \"",
          out);
    write_options(out, table);
    fputs("\"\n        else\n            ", out);
    write_arguments(out, arguments, first);
    fputs("\n        fi\n        ;;\n", out);
}

/* Writes the options with values that are allowed before the command, to skip their values. */
static void write_skipping(FILE *out)
{
    bool first = true;

    fputs("        ", out);
    for (const struct option *o = command_leading; o->name; o++) {
        if (!o->value)
            continue;
        fputs(first ? "" : " | ", out);
        write_pattern(out, o);
        first = false;
    }
    fputs(")\n", out);
}

void completion_bash(FILE *out)
{
    static const struct value commands = {VALUE_COMMAND, NULL};
    static const struct option none = {0};

    fputs(helpers, out);
    fputs(beginning, out);
    write_skipping(out);
    fputs(middle, out);
    fputs("    \"\")\n", out);
    write_case(out, command_leading, &commands, NULL);
    fputs("    help)\n", out);
    write_case(out, &none, &commands, NULL);
    for (size_t i = 0; command_at(i); i++) {
        fprintf(out, "    %s)\n", command_at(i)->name);
        write_case(out, command_at(i)->options, command_at(i)->takes, command_at(i)->first);
    }
    fputs(end, out);
}
