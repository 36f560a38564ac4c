/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a basis that is equal for all cases of a run. */
#ifndef CLI_BATCH_SETUP_H
#define CLI_BATCH_SETUP_H

#include "cli/batch/basis.h"
#include "cli/link/daemon_link.h"
#include "cli/options.h"

/**
 * Fills *setup from the options and, if they name a daemon, from the daemon.info of `client`.
 * Returns 0, or -1 with the fault filled.
 */
int setup_find(struct setup *setup, const struct options *options, struct client *client,
               struct fault *fault);

#endif /* CLI_BATCH_SETUP_H */
