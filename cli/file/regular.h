/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular files: opened without side effects, locked, hashed. */
#ifndef CLI_REGULAR_H
#define CLI_REGULAR_H

#include <stdint.h>
#include <sys/stat.h>

#include "proto/file/sha256_text.h"
#include "proto/json/fault.h"

enum { REGULAR_OTHER = -2 };

/**
 * Opens a regular file with `flags` (and O_CLOEXEC, O_NONBLOCK, O_NOCTTY). Checks the path first:
 * opening a device or a FIFO has side effects (a tape rewinds, a watchdog starts, a writer stops
 * waiting). Returns the descriptor with *status its fstat(); REGULAR_OTHER with *status filled if
 * the file is not regular; or -1 with errno set.
 */
int regular_open(const char *path, int flags, struct stat *status);

/**
 * Waits for an exclusive flock() on `fd`, which closing `fd` releases. Updates of a file take turns
 * by locking the file that they replace. Without effect on file systems without locks. Returns 0,
 * or -1 with the fault if ^C ends the wait.
 */
int regular_lock(int fd, struct fault *fault);

/** Computes the SHA-256 of the whole file; ^C ends it. Returns 0, or -1 with the fault. */
int regular_digest(int fd, uint8_t digest[SHA256_SIZE], struct fault *fault);

#endif /* CLI_REGULAR_H */
