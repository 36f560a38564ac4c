/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CLI_BATCH_CONNECTOR_H
#define CLI_BATCH_CONNECTOR_H

#include <stdbool.h>

#include "cli/batch/fingerprint.h"
#include "cli/link/daemon_link.h"
#include "cli/options.h"

/* How the workers of a batch come to a service: each has a connection of its own. */
struct service_thread;

struct connector {
    const struct options *options;
    struct service_thread *service; /* null: a daemon */
};

/** Whether the options ask for the service of this process. */
bool connector_is_embedded(const struct options *options);

/**
 * Starts that service with `channels`, if it is asked for. `first` becomes a
 * connection. Returns 0 or -1; connector_finish() is legal after both.
 */
int connector_init(struct connector *connector, const struct options *options, uint32_t channels,
                   struct client *first, struct fault *fault);

/** One more connection, by any thread. As client_open(). */
int connector_open(const struct connector *connector, struct client *client, struct fault *fault);

/** After the last connection has been closed. */
void connector_finish(struct connector *connector);

/* The part of a basis that is equal for all cases of a run. */
/**
 * Fills *setup from the options and, if they name a daemon, from the daemon.info of `client`.
 * Returns 0, or -1 with the fault filled.
 */
int connector_setup(struct run_setup *setup, const struct options *options, struct client *client,
                    struct fault *fault);

/* The command line that does a failed job again. */
/**
 * "mlictl run --engine mock batch-failed/a/job.json", for a shell: on the same service as the
 * options of the batch say. Heap; null: no memory.
 */
char *connector_rerun_command(const struct options *options, const char *job_file);

#endif /* CLI_BATCH_CONNECTOR_H */
