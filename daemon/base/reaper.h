/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close clients' descriptors and unmap their memory, so that the loop never waits for
 * either: close(2) of a socket can linger, close(2) of a file on FUSE can wait for its server for
 * ever, and unmapping gigabytes takes its time.
 *
 *     loop's thread     reaper_close(), reaper_add() --> two queues for each user
 *     reaper threads    take the first piece of work of a queue that no other thread serves
 *
 * One queue holds work that ends by itself (files in memory and on local disks), the other work
 * that may block. Three crews of threads serve them:
 *
 *     sure      the first queue of all users
 *     master    the second queue of root and of the user that the process runs as
 *     others    the second queue of all other users, with as many threads as clients are allowed
 *
 * One thread at most serves a queue, so a user whose descriptors do not close delays only
 * descriptors of that user which may block. A queue that would have to wait gets a new thread while
 * its crew may have more.
 *
 * Where more than REAPER_FDS_MAX descriptors of a user wait, each further one has SIGURG sent to
 * the thread that serves the queue: it ends the wait of close(2) for a socket that lingers, so
 * connections that a user opens and closes cannot pile up behind one.
 *
 * A process has one reaper. Where it does not run, all work is done by the caller. Any thread may
 * call everything but reaper_start() and reaper_stop().
 */
#ifndef DAEMON_REAPER_H
#define DAEMON_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/link.h"

enum {
    REAPER_THREADS_MIN = 16, /* bounds of the "others" crew */
    REAPER_THREADS_MAX = 256,
    REAPER_FDS_MAX = 64, /* descriptors of one user that wait to be closed: see reaper_full() */
    REAPER_FDS_OF_ALL = 4096, /* descriptors of all users together that wait to be closed */
    REAPER_PATIENCE_MS = 1000 /* how long reaper_stop() waits for work that makes no progress */
};

/* A piece of work. It lies in what it is about, so that adding it takes no memory. */
struct reap {
    struct link link;
    void (*run)(struct reap *reap); /* on a reaper thread; may free the piece */
    size_t fds;                     /* descriptors that it closes */
    bool may_block;                 /* it may wait for a peer or a server */
};

/**
 * Starts the reaper with one thread. `threads` bounds those for the work of unprivileged users that
 * may block, between REAPER_THREADS_MIN and REAPER_THREADS_MAX. `relief` is called by a reaper
 * thread when reaper_full() has answered true and may answer false now; it must not call the
 * reaper. Returns 0 or -errno.
 */
int reaper_start(unsigned threads, void (*relief)(void *context), void *context);

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

/**
 * Closes descriptors of a user: small files in memory at once, others on the reaper's threads.
 * Where memory is short the caller's thread closes them.
 */
void reaper_close(uid_t uid, const int *fds, size_t count);

/** Returns whether this is a regular file on a local block device. */
bool reaper_is_local(mode_t mode, dev_t dev);

/**
 * Closes a connected socket. Its peer sees the end at once. The caller's thread closes it if it has
 * no unread bytes; else descriptors that nobody has received may wait in it.
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
