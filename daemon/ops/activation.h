/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening sockets that the service manager opened for us (sd_listen_fds(3), by hand). */
#ifndef DAEMON_ACTIVATION_H
#define DAEMON_ACTIVATION_H

#include "proto/json/fault.h"

struct activation {
    int service; /* named "mlid"; -1: none came */
    int metrics; /* named "metrics"; -1: none came */
};

/**
 * Takes what LISTEN_FDS says was passed to this process, and removes the variables. Each must be a
 * listening stream socket: a unix one for the service, a unix or loopback one for the metrics. One
 * alone that has no name (LISTEN_FDNAMES) is for the service. They are close-on-exec afterwards.
 * Returns 0, with -1 in both where nothing came; or -1 (fault).
 */
int activation_take(struct activation *activation, struct fault *fault);

#endif /* DAEMON_ACTIVATION_H */
