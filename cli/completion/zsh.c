/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "cli/completion/completion.h"

static const char beginning[] =
    "#compdef mlictl\n"
    "# zsh completion for mlictl, as `mlictl completion zsh` prints it\n";

/* After the command, $words begins with it. A sourced file calls compdef; a file that zsh has found
 * in $fpath is the body of the function, and calls it. */
static const char end[] = "    case $state in\n"
                          "    arguments)\n"
                          "        curcontext=${curcontext%:*:*}:mlictl-$words[1]:\n"
                          "        (( $+functions[_mlictl_$words[1]] )) && "
                          "_mlictl_$words[1] && ret=0\n"
                          "        ;;\n"
                          "    esac\n"
                          "    return ret\n"
                          "}\n"
                          "\n"
                          "if [[ $funcstack[1] == _mlictl ]]; then\n"
                          "    _mlictl \"$@\"\n"
                          "else\n"
                          "    compdef _mlictl mlictl\n"
                          "fi\n";

static const char next_line[] = " \\\n        ";

/* Writes a text inside a single-quoted specification of _arguments. */
static void write_inner(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fprintf(out, "%s%c", strchr("[]:\\", *text) ? "\\" : "", *text);
    }
}

/* Writes the action that offers the values. For an option without listed values, writes " ": zsh
 * then shows only the name of the value. */
static void write_action(FILE *out, const struct value *value)
{
    if (!value) {
        fputs(" ", out);
        return;
    }
    switch (value->kind) {
    case VALUE_FILE:
    case VALUE_PROFILE:
        if (!completion_has_words(value)) {
            fputs("_files", out);
            break;
        }
        fputs("_alternative \"words:word:(", out);
        completion_write_words(out, value);
        fputs(")\" \"files:file:_files\"", out);
        break;
    case VALUE_JOB_FILE:
        fputs("_files -g \"*.json\"", out);
        break;
    case VALUE_DIRECTORY:
        fputs("_files -/", out);
        break;
    case VALUE_WORDS:
        fputs("_sequence compadd - ", out);
        completion_write_words(out, value);
        break;
    case VALUE_ENGINE:
    case VALUE_COMMAND:
    case VALUE_WORD:
        fputs("(", out);
        completion_write_words(out, value);
        fputs(")", out);
        break;
    }
}

/* '(-e --engine)'{-e+,--engine=}'[help]:SPEC:action' */
static void write_option(FILE *out, const struct option *o)
{
    fputs(next_line, out);
    if (o->repeats)
        fputs("'*'", out);
    else if (o->letter)
        fprintf(out, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        fprintf(out, "{-%c%s,--%s%s}'[", o->letter, o->value ? "+" : "", o->name,
                o->value ? "=" : "");
    else
        fprintf(out, "'--%s%s[", o->name, o->value ? "=" : "");
    write_inner(out, o->help);
    fputs("]", out);
    if (o->value) {
        fputs(":", out);
        write_inner(out, o->value);
        fputs(":", out);
        write_action(out, o->takes);
    }
    fputs("'", out);
}

static void write_argument(FILE *out, const char *which, const struct value *value)
{
    if (!value)
        return;
    fprintf(out, "%s'%s:argument:", next_line, which);
    write_action(out, value);
    fputs("'", out);
}

static void write_function(FILE *out, const struct command *command)
{
    fprintf(out, "\n_mlictl_%s()\n{\n    _arguments -s -S", command->name);
    for (const struct option *o = command->options; o->name; o++)
        write_option(out, o);
    write_argument(out, "1", command->first);
    write_argument(out, "*", command->takes);
    fputs("\n}\n", out);
}

static void write_commands(FILE *out)
{
    fputs("\n_mlictl_commands()\n{\n    local -a commands=(\n", out);
    for (size_t i = 0; command_at(i); i++) {
        fprintf(out, "        '%s:", command_at(i)->name);
        write_inner(out, command_at(i)->summary);
        fputs("'\n", out);
    }
    fputs("        'help:options and examples of a command'\n"
          "    )\n"
          "    _describe -t commands command commands\n"
          "}\n"
          "\n"
          "_mlictl_help()\n"
          "{\n"
          "    _arguments '1:command:_mlictl_commands'\n"
          "}\n",
          out);
}

void completion_zsh(FILE *out)
{
    fputs(beginning, out);
    write_commands(out);
    for (size_t i = 0; command_at(i); i++)
        write_function(out, command_at(i));
    fputs("\n_mlictl()\n"
          "{\n"
          "    local curcontext=$curcontext state state_descr line ret=1\n"
          "    local -A opt_args\n"
          "    _arguments -s -S -C",
          out);
    for (const struct option *o = command_leading; o->name; o++)
        write_option(out, o);
    fputs(" \\\n        '1:command:_mlictl_commands' \\\n"
          "        '*::argument:->arguments' && ret=0\n",
          out);
    fputs(end, out);
}
