/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Syncs files to storage, so that they survive a power cut. A file needs both functions: its
 * content is synced before the file gets its name, and then the name.
 */
#ifndef CLI_STORAGE_H
#define CLI_STORAGE_H

/**
 * Syncs the content of an open file. Returns 0 or an errno. A file system that cannot sync
 * (EINVAL, ENOTSUP) is no error.
 */
int storage_sync(int fd);

/**
 * Syncs the names in a directory, which may be open with O_PATH. If the directory cannot be read,
 * syncs all of the file system of `fd`, an open file in this directory. Returns as storage_sync().
 */
int storage_sync_names(int directory, int fd);

/** Like storage_sync_names(), for the directory `path`. */
int storage_sync_names_of(const char *path, int fd);

#endif /* CLI_STORAGE_H */
