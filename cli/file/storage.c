/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/storage.h"

#include <errno.h>
#include <unistd.h>

#include "cli/file/calls.h"

static int sync_by(int (*call)(int), int fd)
{
    int result;

    do {
        result = call(fd);
    } while (result && errno == EINTR);
    return result && errno != EINVAL && errno != ENOTSUP ? errno : 0;
}

int storage_sync(int fd)
{
    return sync_by(fsync, fd);
}

int storage_sync_names(int directory, int fd)
{
    int names = open_at(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

    if (names < 0)
        return errno == EACCES ? sync_by(syncfs, fd) : errno;
    int error = storage_sync(names);
    close(names);
    return error;
}

int storage_sync_names_of(const char *path, int fd)
{
    int directory = open_path(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (directory < 0)
        return errno;
    int error = storage_sync_names(directory, fd);
    close(directory);
    return error;
}
