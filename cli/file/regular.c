/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int regular_open(const char *path, int flags, struct stat *status)
{
    if (stat(path, status))
        return -1;
    if (!S_ISREG(status->st_mode))
        return REGULAR_OTHER;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    /* The path may lead to another file by now. */
    int result = fstat(fd, status) ? -1 : S_ISREG(status->st_mode) ? fd : REGULAR_OTHER;
    if (result == fd)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return result;
}
