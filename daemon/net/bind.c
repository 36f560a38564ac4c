/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/net/socket_lock.h"

enum { BACKLOG = 128 };

static int unix_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

/* Returns 0 where nobody listens at the address any more, and -EOWNERDEAD for a socket of another
 * user that cannot be tried. */
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
    /* Any other error, a full backlog for one, means that there is somebody. */
    return error == ECONNREFUSED || error == ENOENT ? 0 : -EADDRINUSE;
}

/* The mask makes the mode; with it no more rights exist than were asked for, at no time. */
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

/* While nobody listens at it, nobody connects, whatever the rights are. */
static int hand_over(const char *path, uid_t uid, gid_t gid)
{
    if (uid == (uid_t)-1 && gid == (gid_t)-1)
        return 0;
    return lchown(path, uid, gid);
}

/* Binds and listens; others find a socket either stale or live, never in between. */
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
    case EOWNERDEAD:
        return "a socket of another user is there, and mlid may not remove it: choose another "
               "path, or have its owner or root remove it if nobody listens there";
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
    /* While it still listens nobody takes it for stale, so that it is still there or is no one's.
     */
    if (bound->path[0] != '\0' && lstat(bound->path, &st) == 0 && st.st_dev == bound->dev &&
        st.st_ino == bound->ino)
        unlink(bound->path);
    close(bound->fd);
    bound->fd = -1;
}
