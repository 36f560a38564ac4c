/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the listening unix socket, so that no other service takes it and its mode is right. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

struct bound {
    int fd; /* descriptor of the socket: listening, non-blocking, close-on-exec */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    dev_t dev; /* device and inode of the socket file, because another service's file must not be
                  removed */
    ino_t ino;
};

/**
 * Creates a socket, binds it to a path and listens. The file has `mode` from its first moment, and
 * its owner and group (unless -1) before clients can connect. Replaces a stale socket file, on
 * which no process listens. Holds the lock file PATH.lock during the call, so that services that
 * start at the same time do not replace each other's socket.
 *
 * Returns 0; -ENAMETOOLONG; -EADDRINUSE: another process listens there; -EEXIST: the path is not a
 * socket; -EOWNERDEAD: it is a socket of another user; -EBUSY: another process holds the lock;
 * -ENOLCK: the lock file belongs to another user; or another -errno.
 */
int bind_path(struct bound *bound, const char *path, uint32_t mode, uid_t uid, gid_t gid);

/** Returns a sentence for an error of bind_path(). */
const char *bind_error_text(int error);

/** Takes ownership of a listening socket of the service manager. The manager removes its file. */
void bind_adopt(struct bound *bound, int fd);

/** Removes the socket file, unless another service has replaced it, and stops listening. If the
 * process may not remove the file, a stale file stays. */
void bind_release(struct bound *bound);

/** Removes the directory of a socket's path, unless it has other files. */
void bind_remove_directory(const char *path);
