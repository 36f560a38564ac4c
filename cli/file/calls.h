/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls, made again if a signal interrupts them. Network file systems wait for the server.
 */
#ifndef CLI_CALLS_H
#define CLI_CALLS_H

#include <fcntl.h>
#include <sys/types.h>

/** Calls openat(). After ^C it fails with ECANCELED instead of EINTR. */
int open_at(int directory, const char *path, int flags, mode_t mode);

/** Same for a file that exists. */
int open_path(const char *path, int flags);

/** Calls pread() until `size` bytes are read, or the file ends. Returns their number, or -1. */
ssize_t read_bytes(int fd, void *bytes, size_t size, off_t offset);

/** Calls pwrite() until all bytes are written. Returns 0 or -1. */
int write_bytes(int fd, const void *bytes, size_t size, off_t offset);

/** Calls ftruncate(). */
int set_size(int fd, off_t size);

#endif /* CLI_CALLS_H */
