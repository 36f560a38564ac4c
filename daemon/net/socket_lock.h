/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock file beside a socket: only one service at a time replaces a stale socket file. */
#ifndef DAEMON_LOCK_H
#define DAEMON_LOCK_H

#include <sys/un.h>

struct lock {
    int fd; /* -1: nothing is locked */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof ".lock"];
};

/**
 * Creates PATH.lock with mode 0600 and locks it (flock); waits up to a second for another process
 * that holds the lock. A lock file that an earlier process left behind is used again.
 *
 * Returns 0, also where the file system has no locks (then lock->fd is -1); -EBUSY: another process
 * holds the lock; -ENOLCK: the file is not a regular file that only this process's user can open;
 * or another -errno.
 */
int lock_take(struct lock *lock, const char *path);

/** Removes the file and releases the lock. Harmless where nothing is locked. */
void lock_release(struct lock *lock);

#endif /* DAEMON_LOCK_H */
