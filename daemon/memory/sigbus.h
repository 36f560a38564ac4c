/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Surviving files that shrink, or whose storage fails, while they are mapped. Whoever touches such
 * a page gets SIGBUS. The handler looks the address up in a table of guarded ranges; where it is
 * found, the rest of the range from that page on is replaced by zero pages, the guard is marked,
 * and the interrupted instruction goes on as if nothing had happened: the transfer ends in its
 * normal way, with worthless data, and whoever set the guard learns of it. No stack is unwound, so
 * this works under any code. An address that nobody guards is fatal as ever.
 */
#ifndef DAEMON_SIGBUS_H
#define DAEMON_SIGBUS_H

#include <stdbool.h>
#include <stddef.h>

/* Ranges guarded at a time: as many as the kernel lets a process map (vm.max_map_count). */
enum { SIGBUS_GUARDS_MAX = 65536 };

struct sigbus_guard {
    int slot; /* -1: none */
};

/**
 * Installs the handler for the process; does nothing where it is there. What was there before
 * gets the faults that are not ours. Returns 0 or -errno. Any thread.
 */
int sigbus_install(void);

/**
 * Guards [pages, pages + size): whole pages of one mapping. Any thread may touch them then and end
 * the guard, but none that blocks the signal, which would be fatal: the calling one does not when
 * this returns. Returns 0, -EBUSY where all guards are taken, or -ENOMEM. Any thread.
 */
int sigbus_guard_init(struct sigbus_guard *guard, void *pages, size_t size);

/**
 * Has the handler look at this range first when this thread faults, so that a fault costs the same
 * with 65536 ranges as with one. For the latest two ranges of a thread. A guard with slot -1 is
 * fine.
 */
void sigbus_guard_expect(const struct sigbus_guard *guard);

/** True where the range was hit, once and for all. Any thread. */
bool sigbus_guard_hit(const struct sigbus_guard *guard);

/**
 * Ends it, before the range is unmapped and after the last access. True where the range was hit.
 * A guard with slot -1 is fine.
 */
bool sigbus_guard_finish(struct sigbus_guard *guard);

#endif /* DAEMON_SIGBUS_H */
