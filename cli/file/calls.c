/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

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

void close_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

uint32_t random_number(void)
{
    uint32_t number;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = (uint32_t)clock_ns() ^ (uint32_t)getpid();
    return number;
}

void descriptor_limit_raise(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
