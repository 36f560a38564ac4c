/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular files: opened without side effects, locked, hashed, mapped. Also files in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/term/print.h"
#include "daemon/memory/sigbus.h"
#include "proto/file/job_spec.h"
#include "proto/json/fault.h"

enum { REGULAR_OTHER = -2 };

/**
 * Opens a regular file with `flags` (and O_CLOEXEC, O_NONBLOCK, O_NOCTTY). Checks the path first:
 * opening a device or a FIFO has side effects (a tape rewinds, a watchdog starts, a writer stops
 * waiting). Returns the descriptor with *status filled by fstat(); REGULAR_OTHER with *status
 * filled if the file is not regular; or -1 with errno set.
 */
int regular_open(const char *path, int flags, struct stat *status);

/**
 * Waits for an exclusive flock() on `fd`, which closing `fd` releases. Updates of a file take
 * turns by locking the file that they replace. Has no effect on file systems without locks.
 * Returns 0, or -1 with the fault if ^C ends the wait.
 */
int regular_lock(int fd, struct fault *fault);

/** Computes the SHA-256 of the file, unless ^C interrupts it. Returns 0, or -1 with the fault. */
int regular_digest(int fd, uint8_t digest[SHA256_SIZE], struct fault *fault);

/* Files in memory (memfds), for copies of tensors that cannot be moved directly from their
 * files. */

/**
 * Returns whether a copy of `size` bytes takes at most half of the memory: a larger copy would
 * starve other programs. Writes the size of this half to `half`.
 */
bool memory_file_fits(uint64_t size, char half[PRINT_TEXT_MAX]);

/** Creates an empty file that can be sealed. Returns a descriptor, or -1 with the fault. */
int memory_file_create(struct fault *fault);

/** Appends bytes to the file. Returns 0, or -1 with the fault. */
int memory_file_write(int fd, const void *bytes, size_t size, struct fault *fault);

/* A read-only mapping of whole pages of a file. Pages that the file loses read as zeros. */
struct file_map {
    void *pages;
    size_t size;
    struct sigbus_guard guard;
};

/**
 * Maps `size` bytes from `offset` on; `offset` is a multiple of the page size. Returns 0 or
 * -errno.
 */
int file_map_init(struct file_map *map, int fd, uint64_t offset, uint64_t size);

/** Returns whether the file has shrunk, or its storage has failed, since file_map_init(). */
bool file_map_is_broken(const struct file_map *map);

void file_map_finish(struct file_map *map);
