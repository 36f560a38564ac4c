/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager: takes listening sockets from it, as sd_listen_fds(3) does, and reports the
 * state to it, as sd_notify(3) does. Without a service manager all functions do nothing. */
#pragma once

#include <stdint.h>
#include <sys/un.h>

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

struct notify {
    struct sockaddr_un address;
    unsigned length;        /* length of the address; 0: no service manager */
    uint64_t watchdog_usec; /* longest time between two WATCHDOG=1; 0: no watchdog messages */
};

/** Reads and removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment. */
void notify_init(struct notify *notify);

/** Sends assignments ("READY=1\nSTATUS=..."). Ignores errors. */
void notify_send(const struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Reports that a reload begins; READY=1 ends it. */
void notify_reloading(const struct notify *notify);
