/* SPDX-License-Identifier: BSD-3-Clause */
/* The service's place in the file system: a socket that nobody else has, with the right mode. */
#ifndef DAEMON_BIND_H
#define DAEMON_BIND_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

struct bound {
    int fd; /* listening, non-blocking, close-on-exec */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    dev_t dev; /* of the socket file, so that a successor's is not removed */
    ino_t ino;
};

/**
 * Creates, binds and listens. The file has `mode` from its first moment, and its owner and group,
 * where they are not -1, before anybody can connect. Replaces a socket
 * file without a listener, while it holds the lock file PATH.lock (lock.h), so that services that
 * start at the same time do not replace each other's socket.
 *
 * Returns 0; -ENAMETOOLONG; -EADDRINUSE: somebody listens there; -EEXIST: there is something that
 * is no socket; -EBUSY, -ENOLCK: as lock_take(); or another -errno.
 */
int bind_path(struct bound *bound, const char *path, uint32_t mode, uid_t uid, gid_t gid);

/** Returns a sentence for an error of bind_path(). */
const char *bind_error_text(int error);

/** A listening socket that a service manager made, whose file is his to remove. */
void bind_adopt(struct bound *bound, int fd);

/** Removes the socket file, if it still is ours, and then stops listening. Where there are no
 * rights to remove it, it stays, as a stale one. */
void bind_release(struct bound *bound);

#endif /* DAEMON_BIND_H */
