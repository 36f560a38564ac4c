/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/calls.h"

#include <errno.h>
#include <unistd.h>

#include "cli/term/cancel.h"

int open_at(int directory, const char *path, int flags, mode_t mode)
{
    for (;;) {
        const int fd = openat(directory, path, flags, mode);

        if (fd >= 0 || errno != EINTR)
            return fd;
        if (cancel_requested()) {
            errno = ECANCELED;
            return -1;
        }
    }
}

int open_path(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

ssize_t read_bytes(int fd, void *bytes, size_t size, off_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t got = pread(fd, (char *)bytes + done, size - done, offset + (off_t)done);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int write_bytes(int fd, const void *bytes, size_t size, off_t offset)
{
    size_t done = 0;

    while (done < size) {
        const ssize_t put =
            pwrite(fd, (const char *)bytes + done, size - done, offset + (off_t)done);

        if (put < 0 && errno != EINTR)
            return -1;
        if (put == 0) {
            errno = EIO;
            return -1;
        }
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

int set_size(int fd, off_t size)
{
    int status;

    do
        status = ftruncate(fd, size);
    while (status < 0 && errno == EINTR);
    return status;
}
