/* SPDX-License-Identifier: BSD-3-Clause */
/* mlid's command line, and the configuration that follows from it. */
#ifndef DAEMON_OPTIONS_H
#define DAEMON_OPTIONS_H

#include <stdbool.h>

#include "daemon/config/config.h"

enum { EXIT_CLEAN = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

struct options {
    const char *config, *socket, *channels, *engine, *log_level, *log_format, *trace;
    bool allow_core, check;
};

/** Returns -1 to go on, or the status to exit with. */
int options_parse(struct options *options, int argc, char **argv);

/** Flushes standard output. Returns EXIT_CLEAN, or EXIT_RUNTIME after saying that it failed. */
int options_printed(void);

/** Defaults, then the file, then the options. Returns 0 or -1 (fault). To be called again when the
 *  file may have changed. */
int options_configure(const struct options *options, struct config *config, struct fault *fault);

#endif /* DAEMON_OPTIONS_H */
