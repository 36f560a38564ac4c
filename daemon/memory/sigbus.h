/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guards against SIGBUS, which the kernel sends if a mapped file shrinks or its storage fails. The
 * handler looks the address up in a table of guarded ranges. If a range contains the address, the
 * handler replaces the range from that page on by zero pages and marks the guard as hit. The
 * interrupted instruction continues: the transfer ends normally, with worthless data, and the owner
 * of the guard checks the mark. No stack is unwound, so any code may be interrupted. A fault
 * outside all guarded ranges is fatal, as it is without the handler.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The maximum number of ranges that are guarded at a time. The kernel allows a process about as
 * many mappings (vm.max_map_count).
 */
enum { SIGBUS_GUARDS_MAX = 65536 };

struct sigbus_guard {
    int slot; /* -1: guards no range */
};

/**
 * Installs the handler for the process; does nothing if it is installed. Faults outside all guarded
 * ranges go to the previous handler. Returns 0 or -errno. Thread-safe.
 */
int sigbus_install(void);

/**
 * Guards [pages, pages + size): whole pages of one mapping. Any thread may then access them and end
 * the guard, unless it blocks SIGBUS: a blocked fault is fatal. A thread's first guard unblocks
 * SIGBUS in that thread; the thread must not block it again. Returns 0, -EBUSY if all guards are in
 * use, or -ENOMEM. Thread-safe.
 */
int sigbus_guard_init(struct sigbus_guard *guard, void *pages, size_t size);

/**
 * Makes the handler look at this range first when the calling thread faults, so that the number of
 * ranges does not matter. Each thread has two such ranges: those of its latest two calls. Accepts
 * slot -1.
 */
void sigbus_guard_expect(const struct sigbus_guard *guard);

/** Returns whether a SIGBUS has hit the range at any time. Thread-safe. */
bool sigbus_guard_hit(const struct sigbus_guard *guard);

/**
 * Ends the guard. Call it after the last access and before the range is unmapped. Returns whether a
 * SIGBUS has hit the range. Accepts slot -1.
 */
bool sigbus_guard_finish(struct sigbus_guard *guard);

/** Returns the number of blocks of guards. Blocks are never freed. Thread-safe. */
unsigned sigbus_blocks(void);
