/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of mlictl, one per cmd_*.c. To add one, write its cmd_NAME.c with a `struct
 * command`, declare it here and list it in main.c; write man/mlictl-NAME.1.scd, and list it in
 * man/meson.build and docs/mlictl.md. Help and completion are made of the tables here.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/exit_code.h"
#include "cli/options.h"

/* A command line that works, and what it is for; the help shows it. */
struct example {
    const char *what;
    const char *line;
};

struct command {
    const char *name;
    const char *arguments; /* as in "JOB.json..." */
    const char *summary;   /* one line */
    const char *details;   /* more of it for its own help, a paragraph */
    const struct option *options;
    const struct value *takes; /* what its arguments are; null: nothing that can be completed */
    const struct value *first; /* what the first of them is, where it is another thing; or null */
    const struct example *examples; /* a test runs them; end with a null line */
    enum exit_code (*run)(const struct options *options);
};

extern const struct command cmd_batch, cmd_cancel, cmd_completion, cmd_diff, cmd_drain, cmd_explain,
    cmd_gen, cmd_info, cmd_jobs, cmd_make, cmd_mov, cmd_permute, cmd_ping, cmd_proxy, cmd_resume,
    cmd_run, cmd_selftest, cmd_show, cmd_stats, cmd_status, cmd_submit, cmd_top, cmd_trace,
    cmd_validate, cmd_wait;

/** What may stand before the command. */
extern const struct option command_leading[];

/** All commands in the order of the help; null behind the last. */
const struct command *command_at(size_t index);

/** Says how the command is used, for one whose arguments are wrong. */
enum exit_code command_misused(const struct command *command);

#endif /* CLI_COMMAND_H */
