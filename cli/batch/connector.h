/* SPDX-License-Identifier: BSD-3-Clause */
/* How the workers of a batch come to a service: each has a connection of its own. */
#ifndef CLI_BATCH_CONNECTOR_H
#define CLI_BATCH_CONNECTOR_H

#include <stdbool.h>

#include "cli/link/daemon_link.h"
#include "cli/options.h"

struct service_thread;

struct connector {
    const struct options *options;
    struct service_thread *service; /* null: a daemon */
};

/** Whether the options ask for the service of this process. */
bool connector_is_embedded(const struct options *options);

/**
 * Starts that service with `channels` (embedded.h), if it is asked for. `first` becomes a
 * connection. Returns 0 or -1; connector_finish() is legal after both.
 */
int connector_init(struct connector *connector, const struct options *options, uint32_t channels,
                   struct client *first, struct fault *fault);

/** One more connection, by any thread. As client_open(). */
int connector_open(const struct connector *connector, struct client *client, struct fault *fault);

/** After the last connection has been closed. */
void connector_finish(struct connector *connector);

#endif /* CLI_BATCH_CONNECTOR_H */
