/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a program by the test of power cuts: appends each change of a file to the log
 * $RECORD_LOG, in the order in which the kernel carried them out. disk.py reads the log.
 *
 * A record is a line of text, "NAME NUMBER... LENGTH\n", and LENGTH bytes. Files and directories
 * are inode numbers. Memory mappings change files without a call: `data` is the whole content of a
 * file, and recorded before each call that makes it durable or gives it a name.
 *
 *     open PARENT INODE SIZE     the name (the bytes) was created or opened, and has this size
 *     nameless INODE             a file without a name (O_TMPFILE)
 *     write INODE OFFSET         the bytes
 *     data INODE                 the whole content
 *     size INODE SIZE            ftruncate() and fallocate()
 *     sync INODE                 fsync() and fdatasync() of a file or directory
 *     link PARENT INODE          the new name
 *     rename PARENT PARENT FROM  the old name (FROM bytes) and the new one
 *     unlink PARENT              the name, of a file or an empty directory
 *     mkdir PARENT INODE         the name
 *
 * This file replaces both names of each call, such as open and open64; therefore the headers must
 * not redirect one name to the other.
 */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HEAD_MAX = 160, CONTENT_MAX = 64 << 20 };

/* Held during a call and its record, so that the order in the log is that of the kernel. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

static void *next_of(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (!next)
        abort();
    return next;
}

#define NEXT(type, name) (*(__typeof__(type) *)(void *[]){next_of(name)})

static void begin(void)
{
    pthread_mutex_lock(&order);
    const char *path = getenv("RECORD_LOG");
    if (log_fd < 0 && path)
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                              0666);
}

static void end(void)
{
    const int error = errno;
    pthread_mutex_unlock(&order);
    errno = error;
}

static void put(const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        long got = syscall(SYS_write, log_fd, (const char *)bytes + done, size - done);
        if (got < 0)
            abort();
        done += (size_t)got;
    }
}

static void record(const void *bytes, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void record(const void *bytes, size_t size, const char *format, ...)
{
    const int error = errno;
    char head[HEAD_MAX];
    va_list args;
    if (log_fd < 0)
        return;
    va_start(args, format);
    int length = vsnprintf(head, sizeof(head), format, args);
    va_end(args);
    length += snprintf(head + length, sizeof(head) - (size_t)length, " %zu\n", size);
    put(head, (size_t)length);
    put(bytes, size);
    errno = error;
}

/*
 * Returns whether the descriptor refers to a file or directory on storage, not to a pipe, a socket
 * or a memfd.
 */
static bool is_stored(int fd, struct stat *status)
{
    const int error = errno;
    bool stored = syscall(SYS_fstat, fd, status) == 0 &&
                  (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)) &&
                  fcntl(fd, F_GET_SEALS) < 0;
    /* A file on tmpfs has seals, as a memfd has; but the name of a memfd cannot be looked up. */
    if (!stored && S_ISREG(status->st_mode)) {
        char self[40], path[32] = "";
        snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
        stored = readlink(self, path, sizeof(path) - 1) > 0 && strncmp(path, "/memfd:", 7) != 0;
    }
    errno = error;
    return stored;
}

/* Records the content of an open file, which mappings may have changed. */
static void record_data(int fd, const struct stat *status)
{
    const int error = errno;
    if (!S_ISREG(status->st_mode) || status->st_size > CONTENT_MAX)
        return;
    char self[40];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    int copy = (int)syscall(SYS_openat, AT_FDCWD, self, O_RDONLY | O_CLOEXEC, 0);
    char *bytes = malloc((size_t)status->st_size + 1);
    long got = copy < 0 || !bytes
                   ? -1
                   : syscall(SYS_pread64, copy, bytes, (size_t)status->st_size, (off_t)0);
    if (got == status->st_size)
        record(bytes, (size_t)got, "data %lu", status->st_ino);
    free(bytes);
    if (copy >= 0)
        syscall(SYS_close, copy);
    errno = error;
}

/* Returns the inode of the directory of `path`. Sets *name to the last part of the path. */
static unsigned long parent_of(int directory, const char *path, const char **name)
{
    const int error = errno;
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX] = ".";
    struct stat status = {0};
    *name = slash ? slash + 1 : path;
    if (slash)
        snprintf(parent, sizeof(parent), "%.*s", (int)(slash - path) + 1, path);
    (void)fstatat(directory, parent, &status, 0);
    errno = error;
    return status.st_ino;
}

/* Files */

typedef int (*openat_function)(int, const char *, int, ...);

static int open_recorded(const char *call, int directory, const char *path, int flags, mode_t mode)
{
    begin();
    int fd = NEXT(openat_function, call)(directory, path, flags, mode);
    struct stat status;
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY && is_stored(fd, &status)) {
        const char *name;
        unsigned long parent = parent_of(directory, path, &name);
        if ((flags & O_TMPFILE) == O_TMPFILE)
            record("", 0, "nameless %lu", status.st_ino);
        else
            record(name, strlen(name), "open %lu %lu %ld", parent, status.st_ino,
                   (long)status.st_size);
    }
    end();
    return fd;
}

#define OPENED(flags, mode)                                                                        \
    mode_t mode = 0;                                                                               \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    if ((flags) & (O_CREAT | __O_TMPFILE))                                                         \
        mode = va_arg(args, mode_t);                                                               \
    va_end(args)

int open(const char *path, int flags, ...)
{
    OPENED(flags, mode);
    return open_recorded("openat", AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    OPENED(flags, mode);
    return open_recorded("openat64", AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    OPENED(flags, mode);
    return open_recorded("openat", directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    OPENED(flags, mode);
    return open_recorded("openat64", directory, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    struct stat status;
    begin();
    ssize_t put_bytes = NEXT(ssize_t(*)(int, const void *, size_t), "write")(fd, bytes, size);
    if (put_bytes > 0 && is_stored(fd, &status))
        record(bytes, (size_t)put_bytes, "write %lu %ld", status.st_ino,
               (long)lseek(fd, 0, SEEK_CUR) - (long)put_bytes);
    end();
    return put_bytes;
}

static ssize_t write_at(const char *call, int fd, const void *bytes, size_t size, off64_t offset)
{
    typedef ssize_t (*function)(int, const void *, size_t, off64_t);
    struct stat status;
    begin();
    ssize_t put_bytes = NEXT(function, call)(fd, bytes, size, offset);
    if (put_bytes > 0 && is_stored(fd, &status))
        record(bytes, (size_t)put_bytes, "write %lu %ld", status.st_ino, (long)offset);
    end();
    return put_bytes;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    return write_at("pwrite", fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    return write_at("pwrite64", fd, bytes, size, offset);
}

static void record_size(int fd)
{
    struct stat status;
    if (is_stored(fd, &status))
        record("", 0, "size %lu %ld", status.st_ino, (long)status.st_size);
}

static int truncate_recorded(const char *call, int fd, off64_t size)
{
    begin();
    int result = NEXT(int (*)(int, off64_t), call)(fd, size);
    if (result == 0)
        record_size(fd);
    end();
    return result;
}

int ftruncate(int fd, off_t size)
{
    return truncate_recorded("ftruncate", fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return truncate_recorded("ftruncate64", fd, size);
}

static int allocate_recorded(const char *call, int fd, int mode, off64_t offset, off64_t size)
{
    begin();
    int result = NEXT(int (*)(int, int, off64_t, off64_t), call)(fd, mode, offset, size);
    if (result == 0)
        record_size(fd);
    end();
    return result;
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    return allocate_recorded("fallocate", fd, mode, offset, size);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t size)
{
    return allocate_recorded("fallocate64", fd, mode, offset, size);
}

static int sync_recorded(const char *call, int fd)
{
    struct stat status;
    begin();
    bool stored = is_stored(fd, &status);
    if (stored)
        record_data(fd, &status);
    int result = NEXT(int (*)(int), call)(fd);
    if (result == 0 && stored)
        record("", 0, "sync %lu", status.st_ino);
    end();
    return result;
}

int fsync(int fd)
{
    return sync_recorded("fsync", fd);
}

int fdatasync(int fd)
{
    return sync_recorded("fdatasync", fd);
}

/* Names */

int linkat(int from, const char *old, int directory, const char *path, int flags)
{
    struct stat status;
    const char *name;
    begin();
    int result = NEXT(int (*)(int, const char *, int, const char *, int),
                      "linkat")(from, old, directory, path, flags);
    if (result == 0 && fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        unsigned long parent = parent_of(directory, path, &name);
        int fd = (int)syscall(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC, 0);
        if (fd >= 0) {
            record_data(fd, &status);
            syscall(SYS_close, fd);
        }
        record(name, strlen(name), "link %lu %lu", parent, status.st_ino);
    }
    end();
    return result;
}

static void record_rename(int from, const char *old, int to, const char *path)
{
    const char *name[2];
    char both[2 * NAME_MAX + 2];
    unsigned long parents[2] = {parent_of(from, old, &name[0]), parent_of(to, path, &name[1])};
    int length = snprintf(both, sizeof(both), "%s%s", name[0], name[1]);
    record(both, (size_t)length, "rename %lu %lu %zu", parents[0], parents[1], strlen(name[0]));
}

int renameat(int from, const char *old, int to, const char *path)
{
    begin();
    int result =
        NEXT(int (*)(int, const char *, int, const char *), "renameat")(from, old, to, path);
    if (result == 0)
        record_rename(from, old, to, path);
    end();
    return result;
}

int rename(const char *old, const char *path)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, path);
}

int unlinkat(int directory, const char *path, int flags)
{
    const char *name;
    begin();
    unsigned long parent = parent_of(directory, path, &name);
    int result = NEXT(int (*)(int, const char *, int), "unlinkat")(directory, path, flags);
    if (result == 0)
        record(name, strlen(name), "unlink %lu", parent);
    end();
    return result;
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path)
{
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    struct stat status;
    const char *name;
    begin();
    int result = NEXT(int (*)(int, const char *, mode_t), "mkdirat")(directory, path, mode);
    if (result == 0 && fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        unsigned long parent = parent_of(directory, path, &name);
        record(name, strlen(name), "mkdir %lu %lu", parent, status.st_ino);
    }
    end();
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}

/* Refuses copies inside the kernel: programs then read and write instead, which is recorded. */

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags)
{
    (void)from, (void)in, (void)to, (void)out, (void)size, (void)flags;
    errno = ENOSYS;
    return -1;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (request == FICLONE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return NEXT(int (*)(int, unsigned long, void *), "ioctl")(fd, request, argument);
}
