/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes listening sockets from the service manager, as sd_listen_fds(3) does. */
#ifndef DAEMON_ACTIVATION_H
#define DAEMON_ACTIVATION_H

#include "proto/json/fault.h"

struct activation {
    int service; /* the socket named "mlid"; -1: no such socket */
    int metrics; /* the socket named "metrics"; -1: no such socket */
};

/**
 * Takes the sockets that LISTEN_FDS announces, makes them close-on-exec, and removes the variables.
 * Each must be a listening stream socket: a unix one for the service, a unix or loopback one for
 * the metrics. A single socket without a name (LISTEN_FDNAMES) is for the service. Returns 0, or -1
 * with *fault filled.
 */
int activation_take(struct activation *activation, struct fault *fault);

#endif /* DAEMON_ACTIVATION_H */
