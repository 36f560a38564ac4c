/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The lock file. */

/* A lock file beside a socket: only one service at a time replaces a stale socket file. */
struct lock {
    int fd; /* -1: nothing is locked */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof ".lock"];
};

enum { TRIES = 100, PAUSE_NS = 10 * 1000 * 1000 };

/* Returns whether only this user can open the file: others could keep the file locked for ever. */
static bool is_private(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_uid == geteuid() && (st->st_mode & 077) == 0;
}

/* Returns the lock file's descriptor or -errno. */
static int open_file(const char *path)
{
    /* O_NONBLOCK: if the path is a FIFO, open() must not block the start. */
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat st;
    int fd, error;

    do
        fd = open(path, flags, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        error = -errno;
        /* The kernel may refuse to open another user's file in a sticky directory (EACCES). */
        return lstat(path, &st) == 0 && !is_private(&st) ? -ENOLCK : error;
    }
    error = fstat(fd, &st) < 0 ? -errno : is_private(&st) ? 0 : -ENOLCK;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/*
 * Returns false if the process that held the lock removed the file: then others may use a new lock
 * file.
 */
static bool is_current(int fd, const char *path)
{
    struct stat opened, named;

    return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/*
 * Locks the file. Returns 1: locked; 0: another process holds the lock; -errno: this file system
 * has no locks.
 */
static int try_lock(int fd, const char *path)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return is_current(fd, path);
    return errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
}

/*
 * Creates PATH.lock with mode 0600 and locks it (flock); waits up to a second for another process
 * that holds the lock. Reuses a lock file that an earlier process left behind.
 *
 * Returns 0, even if the file system has no locks (then lock->fd is -1); -EBUSY: another process
 * holds the lock; -ENOLCK: the file is not a regular file that only this process's user can open;
 * or another -errno.
 */
static int lock_take(struct lock *lock, const char *path)
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

/* Removes the file and releases the lock. Does nothing if no file is locked. */
static void lock_release(struct lock *lock)
{
    if (lock->fd < 0)
        return;
    unlink(lock->path); /* do this before the lock is released, so that no other process locks this
                           file */
    close(lock->fd);
    lock->fd = -1;
}

/* The socket. */

enum { BACKLOG = 128 };

static int unix_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

/* Returns 0 if no process listens at the address, -EADDRINUSE if a process listens, and -EOWNERDEAD
 * for a socket of another user that refuses the connection. */
static int probe(const struct sockaddr_un *address)
{
    struct stat st;
    int fd, error;

    if (lstat(address->sun_path, &st) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(st.st_mode))
        return -EEXIST;
    fd = unix_socket();
    if (fd < 0)
        return fd;
    error = connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 ? errno : 0;
    close(fd);
    if (error == EACCES || error == EPERM)
        return -EOWNERDEAD;
    /* Any other error, such as a full backlog, means that a process listens. */
    return error == ECONNREFUSED || error == ENOENT ? 0 : -EADDRINUSE;
}

/* Sets the mode by the umask, so that the file never has more rights. */
static int bind_masked(int fd, const struct sockaddr_un *address, uint32_t mode)
{
    mode_t mask = umask(~mode & 0777);
    int error = bind(fd, (const struct sockaddr *)address, sizeof *address) < 0 ? -errno : 0;

    umask(mask);
    return error;
}

static int bind_fresh(int fd, const struct sockaddr_un *address, uint32_t mode)
{
    int error = bind_masked(fd, address, mode);

    if (error != -EADDRINUSE)
        return error;
    error = probe(address);
    if (error < 0)
        return error;
    if (unlink(address->sun_path) < 0 && errno != ENOENT)
        return errno == EACCES || errno == EPERM ? -EOWNERDEAD : -errno;
    return bind_masked(fd, address, mode);
}

/* Changes the owner before listen(2): no client can connect yet. */
static int hand_over(const char *path, uid_t uid, gid_t gid)
{
    if (uid == (uid_t)-1 && gid == (gid_t)-1)
        return 0;
    return lchown(path, uid, gid);
}

/* Binds and listens. The lock keeps other services from probing the socket before it listens. */
static int take_place(struct bound *bound, uint32_t mode, uid_t uid, gid_t gid)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    int error;

    memcpy(address.sun_path, bound->path, sizeof address.sun_path);
    error = bind_fresh(bound->fd, &address, mode);
    if (error < 0)
        return error;
    if (hand_over(bound->path, uid, gid) < 0 || listen(bound->fd, BACKLOG) < 0 ||
        lstat(bound->path, &st) < 0) {
        error = -errno;
        unlink(bound->path);
        return error;
    }
    bound->dev = st.st_dev;
    bound->ino = st.st_ino;
    return 0;
}

int bind_path(struct bound *bound, const char *path, uint32_t mode, uid_t uid, gid_t gid)
{
    struct lock lock;
    int error;

    *bound = (struct bound){.fd = -1};
    if (path[0] == '\0')
        return -EINVAL;
    if (strlen(path) >= sizeof bound->path)
        return -ENAMETOOLONG;
    snprintf(bound->path, sizeof bound->path, "%s", path);
    error = lock_take(&lock, path);
    if (error < 0)
        return error;
    error = bound->fd = unix_socket();
    if (error >= 0)
        error = take_place(bound, mode, uid, gid);
    if (error < 0 && bound->fd >= 0) {
        close(bound->fd);
        bound->fd = -1;
    }
    lock_release(&lock);
    return error < 0 ? error : 0;
}

const char *bind_error_text(int error)
{
    switch (-error) {
    case EADDRINUSE:
        return "Address already in use: stop the process that listens there, or choose another "
               "path";
    case EEXIST:
        return "the path is a file, and not a socket: choose another path, or remove the file";
    case EOWNERDEAD:
        return "the path is a socket of another user, which mlid may not remove: choose another "
               "path, or have its owner or root remove it if no process listens there";
    case EBUSY:
        return "another process holds the lock file beside the socket (its path with .lock)";
    case ENOLCK:
        return "the lock file beside the socket (its path with .lock) is not a regular file of "
               "mode 0600 and of mlid's user: remove it, or use a directory that only mlid's user "
               "can write to";
    default:
        return strerror(-error);
    }
}

void bind_adopt(struct bound *bound, int fd)
{
    *bound = (struct bound){.fd = fd};
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void bind_release(struct bound *bound)
{
    struct stat st;

    if (bound->fd < 0)
        return;
    /* Remove the file before closing: while the socket listens, no service replaces the file. */
    if (bound->path[0] != '\0' && lstat(bound->path, &st) == 0 && st.st_dev == bound->dev &&
        st.st_ino == bound->ino)
        unlink(bound->path);
    close(bound->fd);
    bound->fd = -1;
}

void bind_remove_directory(const char *path)
{
    char directory[sizeof(((struct bound *)0)->path)];
    const char *end = strrchr(path, '/');
    const size_t length = end ? (size_t)(end - path) : 0;

    if (length == 0 || length >= sizeof directory)
        return;
    memcpy(directory, path, length);
    directory[length] = '\0';
    rmdir(directory);
}
