/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close clients' descriptors and unmap their memory, so that the loop never waits for
 * either: close(2) of a socket can linger, close(2) of a file on FUSE can wait for its server for
 * ever, and unmapping gigabytes takes its time.
 *
 *     loop's thread     reaper_close(), reaper_add() --> a queue for each user
 *     reaper threads    take the first piece of work of a queue that no other thread serves
 *
 * One thread at most works for a user, so a user whose descriptors do not close holds up nobody
 * else: another thread starts when a queue would have to wait, up to REAPER_THREADS_MAX. Threads
 * that are not needed any more end after a second, all but one.
 *
 * A process has one reaper. Where it does not run, all work is done by the caller. Any thread may
 * call everything but reaper_start() and reaper_stop().
 */
#ifndef DAEMON_REAPER_H
#define DAEMON_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "link.h"

enum {
    REAPER_THREADS_MAX = 16,
    REAPER_FDS_MAX = 64, /* descriptors of one user that wait to be closed: see reaper_full() */
    REAPER_FDS_OF_ALL = 1024, /* the same for all users together */
    REAPER_PATIENCE_MS = 1000 /* how long reaper_stop() waits for work that makes no progress */
};

/* A piece of work. It lies in what it is about, so that adding it takes no memory. */
struct reap {
    struct link link;
    void (*run)(struct reap *reap); /* on a reaper thread; may free the piece */
    size_t fds;                     /* descriptors that it closes */
};

/**
 * Starts the reaper with one thread. `relief` is called by a reaper thread when reaper_full() has
 * answered true and may answer false now; it must not call the reaper. Returns 0 or -errno.
 */
int reaper_start(void (*relief)(void *context), void *context);

/**
 * Waits until all work is done, then ends the threads. Work that blocks is waited for as long as
 * other work makes progress, and REAPER_PATIENCE_MS more; it is then left to the process's end.
 * `relief` is not called any more. Returns how many pieces are left.
 */
size_t reaper_stop(void);

/** Waits until all work that was added is done. For tests. */
void reaper_wait(void);

/** Adds work for a user. The piece and what it is about belong to the reaper from now on. */
void reaper_add(uid_t uid, struct reap *reap);

/** Closes descriptors of a user. Where memory is short the caller's thread closes them. */
void reaper_close(uid_t uid, const int *fds, size_t count);

/**
 * Closes a connected socket, in which descriptors may wait that nobody has received. Its peer sees
 * the end at once.
 */
void reaper_close_connection(int socket);

/**
 * True where so many descriptors of the user wait to be closed that no more should be taken:
 * REAPER_FDS_MAX, or any while REAPER_FDS_OF_ALL wait in all.
 */
bool reaper_full(uid_t uid);
/** True where REAPER_FDS_OF_ALL descriptors wait to be closed. */
bool reaper_overfull(void);

#endif /* DAEMON_REAPER_H */
