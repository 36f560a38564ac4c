/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls on files. A call that a signal interrupts is repeated: on network file systems, any
 * call may wait for the server, so that signals can interrupt it. Also random numbers, and the
 * limit on open files.
 */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/types.h>

/** Calls openat(). After ^C it fails with ECANCELED instead of EINTR. */
int open_at(int directory, const char *path, int flags, mode_t mode);

/** Like open_at() in the working directory, for a file that exists. */
int open_path(const char *path, int flags);

/** Calls pread() until `size` bytes are read or the file ends. Returns the bytes read, or -1. */
ssize_t read_bytes(int fd, void *bytes, size_t size, off_t offset);

/** Calls pwrite() until all bytes are written. Returns 0 or -1. */
int write_bytes(int fd, const void *bytes, size_t size, off_t offset);

/** Calls ftruncate(). */
int set_size(int fd, off_t size);

/* Syncs files to storage, so that they survive a power cut. A file needs both functions: sync the
 * content before the file gets its name, and the name afterwards. */

/**
 * Syncs the content of an open file. Returns 0 or an errno. A file system that cannot sync
 * (EINVAL, ENOTSUP) is no error.
 */
int storage_sync(int fd);

/**
 * Syncs the names in a directory, which may be open with O_PATH. If the directory cannot be read,
 * syncs the whole file system of `fd`, an open file in this directory. Returns the same values as
 * storage_sync().
 */
int storage_sync_names(int directory, int fd);

/** Like storage_sync_names(), for the directory `path`. */
int storage_sync_names_of(const char *path, int fd);

/** Calls close(), unless the descriptor is negative, which means that no file is open. */
void close_open(int fd);

/** Returns a random number from the system; if that fails, a number that may be predictable. */
uint32_t random_number(void);

/** Raises the limit on open files to the largest that is allowed. Does nothing if that fails. */
void descriptor_limit_raise(void);
