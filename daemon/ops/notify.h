/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports the state to the service manager, as sd_notify(3) does. Without a service manager all
 * functions do nothing.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdint.h>
#include <sys/un.h>

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

#endif /* DAEMON_NOTIFY_H */
