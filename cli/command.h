/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of mlictl, one per cmd_*.c. To add one, write its cmd_NAME.c with a `struct
 * command`, declare it here and list it in main.c.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "exit_code.h"
#include "options.h"

struct command {
    const char *name;
    const char *arguments; /* as in "JOB.json..." */
    const char *summary;   /* one line */
    const char *details;   /* more of it for its own help, or null */
    const struct option *options;
    enum exit_code (*run)(const struct options *options);
};

extern const struct command cmd_cancel, cmd_diff, cmd_drain, cmd_gen, cmd_info, cmd_jobs, cmd_ping,
    cmd_proxy, cmd_resume, cmd_run, cmd_selftest, cmd_show, cmd_stats, cmd_status, cmd_submit,
    cmd_top, cmd_trace, cmd_validate, cmd_wait;

/** Says how the command is used, for one whose arguments are wrong. */
enum exit_code command_misused(const struct command *command);

#endif /* CLI_COMMAND_H */
