/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into mlictl by the tests: every file system then lacks unnamed files (O_TMPFILE) and
 * fallocate, as FAT and NFS do. This file replaces both names of each call, such as open and
 * open64; therefore the headers must not redirect one name to the other.
 */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

typedef int (*openat_function)(int directory, const char *path, int flags, ...);

static int open_plainly(const char *name, int directory, const char *path, int flags, mode_t mode)
{
    openat_function next;
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    *(void **)&next = dlsym(RTLD_NEXT, name);
    return next(directory, path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_plainly("openat", directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return open_plainly("openat64", directory, path, flags, mode);
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    (void)fd, (void)mode, (void)offset, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    (void)fd, (void)mode, (void)offset, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}
