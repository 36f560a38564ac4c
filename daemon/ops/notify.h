/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the service manager how it goes (systemd's sd_notify(3), by hand). Without one,
 * everything here does nothing.
 */
#ifndef DAEMON_NOTIFY_H
#define DAEMON_NOTIFY_H

#include <stdint.h>
#include <sys/un.h>

struct notify {
    struct sockaddr_un address;
    unsigned length;        /* of the address; 0: there is no manager */
    uint64_t watchdog_usec; /* how often he wants to hear of us, at least; 0: he does not */
};

/** Reads and removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment. */
void notify_init(struct notify *notify);

/** Sends assignments ("READY=1\nSTATUS=..."); whether they arrive is not known. */
void notify_send(const struct notify *notify, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A reload begins; READY=1 ends it. */
void notify_reloading(const struct notify *notify);

#endif /* DAEMON_NOTIFY_H */
