/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/cmd/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/term/print.h"
#include "proto/json/json.h"

enum { COMMANDS_MAX = 64 };

static const struct command *const *commands;

void command_set_list(const struct command *const *list)
{
    commands = list;
}

const struct command *command_at(size_t index)
{
    return commands[index];
}

void command_print_list(void)
{
    int name = 0, arguments = 0;

    for (size_t i = 0; commands[i]; i++) {
        int length = (int)strlen(commands[i]->name);
        name = length > name ? length : name;
        length = (int)strlen(commands[i]->arguments);
        arguments = length > arguments ? length : arguments;
    }
    for (size_t i = 0; commands[i]; i++) {
        const size_t indent = (size_t)printf("  %-*s %-*s  ", name, commands[i]->name, arguments,
                                             commands[i]->arguments);
        options_print_wrapped(commands[i]->summary, indent, indent);
        printf("\n");
    }
}

/* Returns the command that reads a file with this ending, or null if there is none. */
static const char *command_for_file(const char *name)
{
    static const char *const endings[][2] = {
        {".json", "run"},    {".npy", "show"},      {".npz", "show"}, {".safetensors", "show"},
        {".onnx", "import"}, {".tflite", "import"}, {".pb", "show"}};
    const char *ending = strrchr(name, '.');

    for (size_t i = 0; ending && i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (strcmp(ending, endings[i][0]) == 0)
            return endings[i][1];
    }
    return NULL;
}

const struct command *command_find(const char *name)
{
    const char *names[COMMANDS_MAX + 1] = {NULL};

    for (size_t i = 0; commands[i] && i < COMMANDS_MAX; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        names[i] = commands[i]->name;
    }
    const char *nearest = nearest_word(name, names), *command = command_for_file(name);
    if (command)
        print_error("%s is not a command; did you mean: mlictl %s %s", name, command, name);
    else if (nearest)
        print_error("unknown command %s; did you mean %s?", name, nearest);
    else
        print_error("unknown command %s; see mlictl --help", name);
    return NULL;
}

const struct form *command_form(const struct command *command, const char *word)
{
    for (const struct form *form = command->forms; form && form->name; form++) {
        if (strcmp(form->name, word) == 0)
            return form;
    }
    return NULL;
}

void command_help(const struct command *command, const struct form *form)
{
    if (form) {
        printf("usage: mlictl %s %s [options] %s\n\nmlictl %s --help describes all forms of the "
               "command.\n\noptions:\n",
               command->name, form->name, form->arguments, command->name);
        options_help(command->options, form->uses);
        return;
    }
    const int title = printf("mlictl %s: ", command->name);
    options_print_wrapped(command->summary, (size_t)title, 0);
    printf("\n\nusage: mlictl %s [options]%s%s\n", command->name, *command->arguments ? " " : "",
           command->arguments);
    if (command->details) {
        printf("\n");
        options_print_wrapped(command->details, 0, 0);
    }
    printf("\noptions:\n");
    options_help(command->options, OPTION_EVERY_USE);
    for (size_t i = 0; i < EXAMPLES_MAX && command->examples[i].line; i++)
        printf("%s  %s\n      %s\n", i == 0 ? "\nexamples:\n" : "", command->examples[i].line,
               command->examples[i].what);
}

enum exit_code command_misused(const struct command *command)
{
    return print_invalid("usage: mlictl %s [options]%s%s; see mlictl %s --help", command->name,
                         *command->arguments ? " " : "", command->arguments, command->name);
}

/* Options allowed before the command: the options of every command, and the options that name the
 * daemon. */
const struct option command_leading[] = {
    {"socket", "PATH", "", .takes = &value_file},
    {"host", "URL", ""},
    {"json", NULL, ""},
    {"quiet", NULL, ""},
    {"help", NULL, ""},
    {"version", NULL, ""},
    {NULL},
};
