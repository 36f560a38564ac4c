/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/socket_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, PAUSE_NS = 10 * 1000 * 1000 };

/* A file that another user can open, that user can keep locked for ever. */
static bool is_private(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 077) == 0;
}

/* Returns the lock file's descriptor or -errno. */
static int open_file(const char *path)
{
    /* O_NONBLOCK: a FIFO in its place must not block the start. */
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    struct stat st;
    int error;

    if (fd < 0) {
        error = -errno;
        /* The kernel may refuse to open another user's file in a sticky directory (EACCES). */
        return lstat(path, &st) == 0 && !is_private(&st) ? -ENOLCK : error;
    }
    if (fstat(fd, &st) == 0 && is_private(&st))
        return fd;
    close(fd);
    return -ENOLCK;
}

/* False: the process that held the lock has removed the file, and others may use a new one. */
static bool is_current(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* Returns 1: locked; 0: another process holds it; -errno: this file system has no locks. */
static int try_lock(int fd, const char *path)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return is_current(fd, path);
    return errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
}

int lock_take(struct lock *lock, const char *path)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const int length = snprintf(lock->path, sizeof lock->path, "%s.lock", path);

    lock->fd = -1;
    if (length < 0 || (size_t)length >= sizeof lock->path)
        return -ENAMETOOLONG;
    for (int i = 0; i < TRIES; i++) {
        const int fd = open_file(lock->path);
        int locked;

        if (fd < 0)
            return fd;
        locked = try_lock(fd, lock->path);
        if (locked == 1) {
            lock->fd = fd;
            return 0;
        }
        if (locked < 0) {
            unlink(lock->path);
            close(fd);
            return 0;
        }
        close(fd);
        nanosleep(&pause, NULL);
    }
    return -EBUSY;
}

void lock_release(struct lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->path); /* before the lock is released, so that no other process locks this file */
    close(lock->fd);
    lock->fd = -1;
}
