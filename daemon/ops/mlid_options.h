/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of mlid, and the configuration that results from it.
 *
 * To add an option, add it to struct mlid_options, to the table and the help in mlid_options.c, to
 * override() there, and to man/mlid.8.scd.
 */
#ifndef DAEMON_MLID_OPTIONS_H
#define DAEMON_MLID_OPTIONS_H

#include <stdbool.h>

#include "daemon/config/config.h"

enum { EXIT_CLEAN = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

struct mlid_options {
    const char *config, *socket, *channels, *engine, *profile, *tuning, *log_level, *log_format,
        *trace;
    bool remove_directory, allow_core, check;
};

/** Reads the command line. Returns -1 if mlid shall start, or the exit status. */
int mlid_options_parse(struct mlid_options *options, int argc, char **argv);

/** Flushes standard output. Returns EXIT_CLEAN, or EXIT_RUNTIME after printing an error. */
int mlid_options_printed(void);

/**
 * Fills *config from the defaults, then the file, then the options. Call it again after a change of
 * the file. Returns 0, or -1 with *fault filled.
 */
int mlid_options_configure(const struct mlid_options *options, struct config *config,
                           struct fault *fault);

#endif /* DAEMON_MLID_OPTIONS_H */
