/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of calls for files. A program may call a function by its name, with or without 64, or by
 * its name for _FORTIFY_SOURCE; therefore the headers must not redirect one name to another.
 */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/torture/preload.h"

enum { OPEN = NEW_FD_ | EIO_ | EINTR_ };

static unsigned open_kinds(int flags)
{
    return OPEN | (flags & (O_CREAT | O_TRUNC) || (flags & O_TMPFILE) == O_TMPFILE ? ENOSPC_ : 0U);
}

static mode_t open_mode(int flags, va_list args)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define OPEN_WRAPPER(name)                                                                         \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        NEXT(name);                                                                                \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = open_mode(flags, args);                                                \
        va_end(args);                                                                              \
        const int error = choose(#name, open_kinds(flags));                                        \
        if (error == 0)                                                                            \
            return next(path, flags, mode);                                                        \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }

#define OPENAT_WRAPPER(name)                                                                       \
    int name(int directory, const char *path, int flags, ...)                                      \
    {                                                                                              \
        NEXT(name);                                                                                \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = open_mode(flags, args);                                                \
        va_end(args);                                                                              \
        const int error = choose(#name, open_kinds(flags));                                        \
        if (error == 0)                                                                            \
            return next(directory, path, flags, mode);                                             \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }

OPEN_WRAPPER(open)
OPEN_WRAPPER(open64)
OPENAT_WRAPPER(openat)
OPENAT_WRAPPER(openat64)

/* Calls of open() and openat() get these names with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
WRAP(int, __open_2, (const char *path, int flags), (path, flags), -1, OPEN)
WRAP(int, __open64_2, (const char *path, int flags), (path, flags), -1, OPEN)

WRAP(FILE *, fopen, (const char *path, const char *how), (path, how), NULL, NEW_FD_ | EIO_)
WRAP(FILE *, fopen64, (const char *path, const char *how), (path, how), NULL, NEW_FD_ | EIO_)
WRAP(DIR *, opendir, (const char *path), (path), NULL, NEW_FD_ | EIO_)
WRAP(struct dirent *, readdir, (DIR * directory), (directory), NULL, EIO_)
WRAP(struct dirent64 *, readdir64, (DIR * directory), (directory), NULL, EIO_)

/* Returns whether closing the descriptor may report that written bytes are lost. */
static bool may_lose_bytes(int fd)
{
    static __typeof__(&fstat) status;
    struct stat st;
    char path[32], name[8] = "";

    if (!status)
        *(void **)&status = next_function("fstat");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    syscall(SYS_readlink, path, name, sizeof(name) - 1);
    /* Bytes in memory cannot be lost. */
    return strcmp(name, "/memfd:") != 0 && status(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

/* close() and fclose() release the descriptor even if they fail, even with EINTR. */
int close(int fd)
{
    NEXT(close);
    const int saved = errno;
    const unsigned kinds = may_lose_bytes(fd) ? EIO_ | ENOSPC_ | EINTR_ : EINTR_;
    errno = saved;
    const int error = choose("close", kinds);
    const int result = next(fd);
    if (error == 0 || result < 0)
        return result;
    errno = error;
    return -1;
}

int fclose(FILE *stream)
{
    NEXT(fclose);
    const int saved = errno, fd = fileno(stream);
    const int error = choose("fclose", fd >= 0 && may_lose_bytes(fd) ? EIO_ | ENOSPC_ : 0U);
    errno = saved;
    const int result = next(stream);
    if (error == 0 || result < 0)
        return result;
    errno = error;
    return EOF;
}

WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1, EIO_)
WRAP(int, fstat64, (int fd, struct stat64 *st), (fd, st), -1, EIO_)
WRAP(int, stat, (const char *path, struct stat *st), (path, st), -1, EIO_ | ENOMEM_)
WRAP(int, stat64, (const char *path, struct stat64 *st), (path, st), -1, EIO_ | ENOMEM_)
WRAP(int, lstat, (const char *path, struct stat *st), (path, st), -1, EIO_ | ENOMEM_)
WRAP(int, lstat64, (const char *path, struct stat64 *st), (path, st), -1, EIO_ | ENOMEM_)
WRAP(int, fstatat, (int at, const char *path, struct stat *st, int flags), (at, path, st, flags),
     -1, EIO_ | ENOMEM_)
WRAP(int, fstatat64, (int at, const char *path, struct stat64 *st, int flags),
     (at, path, st, flags), -1, EIO_ | ENOMEM_)
WRAP(int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *st),
     (at, path, flags, mask, st), -1, EIO_ | ENOMEM_)
WRAP(int, fstatfs, (int fd, struct statfs *fs), (fd, fs), -1, EIO_ | EINTR_)
WRAP(int, fstatfs64, (int fd, struct statfs64 *fs), (fd, fs), -1, EIO_ | EINTR_)
WRAP(ssize_t, readlink, (const char *path, char *text, size_t size), (path, text, size), -1, EIO_)
WRAP(char *, realpath, (const char *path, char *resolved), (path, resolved), NULL, EIO_ | ENOMEM_)

WRAP(int, rename, (const char *from, const char *to), (from, to), -1, NEW_NAME_)
WRAP(int, renameat, (int from_at, const char *from, int to_at, const char *to),
     (from_at, from, to_at, to), -1, NEW_NAME_)
WRAP(int, link, (const char *from, const char *to), (from, to), -1, NEW_NAME_)
WRAP(int, linkat, (int from_at, const char *from, int to_at, const char *to, int flags),
     (from_at, from, to_at, to, flags), -1, NEW_NAME_)
WRAP(int, symlink, (const char *from, const char *to), (from, to), -1, NEW_NAME_)
WRAP(int, unlink, (const char *path), (path), -1, EIO_)
WRAP(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), -1, EIO_)
WRAP(int, rmdir, (const char *path), (path), -1, EIO_)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, NEW_NAME_)
WRAP(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), -1, NEW_NAME_)
WRAP(char *, mkdtemp, (char *path), (path), NULL, NEW_NAME_)
WRAP(int, mkstemp, (char *path), (path), -1, NEW_NAME_ | EMFILE_)
WRAP(int, mkostemp, (char *path, int flags), (path, flags), -1, NEW_NAME_ | EMFILE_)
WRAP(int, chdir, (const char *path), (path), -1, EIO_)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EIO_)
WRAP(int, lchown, (const char *path, uid_t user, gid_t group), (path, user, group), -1, EIO_)
WRAP(int, flock, (int fd, int operation), (fd, operation), -1, ENOMEM_ | EINTR_)
WRAP(int, fsync, (int fd), (fd), -1, EIO_ | ENOSPC_ | EINTR_)
WRAP(int, fdatasync, (int fd), (fd), -1, EIO_ | ENOSPC_ | EINTR_)
WRAP(int, msync, (void *address, size_t size, int flags), (address, size, flags), -1, EIO_)
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), -1, EIO_ | ENOSPC_ | EINTR_)
WRAP(int, ftruncate64, (int fd, off64_t size), (fd, size), -1, EIO_ | ENOSPC_ | EINTR_)
WRAP(int, fallocate, (int fd, int mode, off_t from, off_t size), (fd, mode, from, size), -1,
     EIO_ | ENOSPC_ | EINTR_)
WRAP(int, fallocate64, (int fd, int mode, off64_t from, off64_t size), (fd, mode, from, size), -1,
     EIO_ | ENOSPC_ | EINTR_)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, NEW_FD_)
WRAP(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), MAP_FAILED, ENOMEM_)
WRAP(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset),
     (at, size, protection, flags, fd, offset), MAP_FAILED, ENOMEM_)
