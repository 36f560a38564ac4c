/* SPDX-License-Identifier: BSD-3-Clause */
/* Regular files, opened without touching anything else. */
#ifndef CLI_REGULAR_H
#define CLI_REGULAR_H

#include <sys/stat.h>

enum { REGULAR_OTHER = -2 };

/**
 * Opens a regular file with `flags` (and O_CLOEXEC, O_NONBLOCK, O_NOCTTY). Opening a device or a
 * FIFO has effects of its own (a tape rewinds, a watchdog starts, a writer stops waiting), so the
 * path is looked up before. Returns the descriptor with *status its fstat(); REGULAR_OTHER with
 * *status filled if the file is not regular; or -1 with errno set.
 */
int regular_open(const char *path, int flags, struct stat *status);

#endif /* CLI_REGULAR_H */
