/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of mlictl, one per cmd/cmd_NAME.c. To add a command:
 *
 *   1. write cmd/cmd_NAME.c with a `struct command` and its options_table; use
 *      cmd_info.c (cmd/session.h) as the example for a command that sends a request to a daemon,
 *      cmd_run.c for a command that runs jobs
 *   2. declare the command below, list it in main.c, and its file in meson.build
 *   3. write man/mlictl-NAME.1.scd, list it in man/meson.build and man/mlictl.1.scd
 *   4. write a test in tests/integration; help, completion and examples are tested from the tables
 */
#pragma once

#include "cli/options.h"
#include "cli/term/exit_code.h"

/* A command line that works, and its purpose; the help shows both. */
struct example {
    const char *what;
    const char *line;
};

enum { EXAMPLES_MAX = 8 };

/* A form of a command that its first argument selects, as in `mlictl batch merge`. */
struct form {
    const char *name, *arguments;
    unsigned uses; /* this form takes the options with this bit in option.uses */
    enum exit_code (*run)(const struct options *options);
};

struct command {
    const char *name;
    const char *arguments; /* arguments in the usage, for example "JOB.json..." */
    size_t count;          /* number of arguments; 0: none, or run() checks the number */
    const char *summary;   /* help in one line that begins with a verb */
    const char *details;   /* a paragraph for the help of the command */
    const struct option *options;
    const struct value *takes; /* kind of the arguments; null: the shell does not complete them */
    const struct value *first; /* kind of the first argument if it is not `takes`; otherwise null */
    struct example examples[EXAMPLES_MAX]; /* a test runs them; the last has a null line */
    const struct form *forms; /* forms such as `batch merge`, the last with a null name; or null */
    enum exit_code (*run)(const struct options *options);
};

extern const struct command cmd_batch, cmd_calibrate, cmd_cancel, cmd_completion, cmd_diff,
    cmd_drain, cmd_explain, cmd_gen, cmd_import, cmd_info, cmd_jobs, cmd_make, cmd_mov,
    cmd_optimise, cmd_permute, cmd_ping, cmd_profile, cmd_proxy, cmd_resume, cmd_run, cmd_selftest,
    cmd_show, cmd_stats, cmd_status, cmd_submit, cmd_tile, cmd_top, cmd_trace, cmd_validate,
    cmd_wait;

/** Options allowed before the command. */
extern const struct option command_leading[];

/** Sets the list of all commands, which ends with null. main() calls it first. */
void command_set_list(const struct command *const *list);

/** Returns a command, in the order of the help; null after the last. */
const struct command *command_at(size_t index);

/** Returns the command with this name, or null after printing that there is none. */
const struct command *command_find(const char *name);

/** Prints a line for each command. */
void command_print_list(void);

/** Returns the form that a word selects, or null. */
const struct form *command_form(const struct command *command, const char *word);

/** Prints the help of a command, or of one of its forms unless `form` is null. */
void command_help(const struct command *command, const struct form *form);

/** Prints the usage of a command after wrong arguments. Returns EXIT_CODE_INVALID. */
enum exit_code command_misused(const struct command *command);
