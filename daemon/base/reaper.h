/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaper: threads that close clients' descriptors and unmap their memory, so that the loop
 * never waits for these calls. close(2) of a socket can linger, close(2) of a file on FUSE can wait
 * for its server for ever, and unmapping gigabytes takes long.
 *
 *     loop's thread     reaper_close(), reaper_add() --> two queues for each user
 *     reaper threads    take the first piece of work of a queue that no other thread serves
 *
 * The first queue has work that cannot block (files in memory and on local disks), the second one
 * work that may block. Three crews of threads serve the queues:
 *
 *     sure      the first queue of all users
 *     master    the second queue of root and of the user that the process runs as
 *     others    the second queue of all other users, with one thread for each allowed client
 *
 * At most one thread serves a queue, so that a user whose descriptors do not close delays only this
 * user's own second queue. If a queue would have to wait, its crew gets a new thread, up to the
 * maximum of the crew.
 *
 * If more than REAPER_FDS_MAX descriptors of a user wait, each further one makes the reaper send
 * SIGURG to the thread that serves the queue. The signal interrupts close(2) of a socket that
 * lingers, so that connections of the user do not pile up behind it.
 *
 * A process has one reaper. If it is not running, the caller does all work. Adding work allocates
 * no more than the queues of a user; without memory for those, users share two spare queues. Any
 * thread may call everything but reaper_start() and reaper_stop().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/link.h"

enum {
    REAPER_THREADS_MIN = 16, /* bounds of the number of threads in the crew "others" */
    REAPER_THREADS_MAX = 256,
    REAPER_FDS_MAX = 64,      /* descriptors of one user that wait to be closed */
    REAPER_FDS_OF_ALL = 4096, /* descriptors of all users together that wait to be closed */
    REAPER_PATIENCE_MS = 1000 /* the time reaper_stop() waits for work without progress */
};

/* A piece of work for the reaper. The structure that the work frees embeds the piece, so that
 * adding work needs no allocation. */
struct reap {
    struct link link;
    void (*run)(struct reap *reap); /* called on a reaper thread; may free the piece */
    size_t fds;                     /* number of descriptors that run() closes */
    bool may_block;                 /* true: run() may wait for a peer or a server */
};

/**
 * Starts the reaper with a thread for each crew. `threads` limits the "others" crew, within
 * REAPER_THREADS_MIN and REAPER_THREADS_MAX. A reaper thread calls `relief` when reaper_full() has
 * returned true and may return false now; `relief` must not call the reaper. Returns 0 or -errno.
 */
int reaper_start(unsigned threads, void (*relief)(void *context), void *context);

/**
 * Waits until all work is done, then ends the threads. If no piece of work ends for
 * REAPER_PATIENCE_MS, stops waiting: the end of the process will end the blocked work. Does not
 * call `relief` any more. Returns the number of pieces that are not done.
 */
size_t reaper_stop(void);

/** Waits until all work is done. For tests. */
void reaper_wait(void);

/** Adds work for a user. The reaper takes ownership of the piece and of its memory. */
void reaper_add(uid_t uid, struct reap *reap);

/**
 * Closes descriptors of a user: the caller's thread closes small files in memory, the reaper's
 * threads close other files. The caller's thread also closes descriptors whose numbers are too high
 * for the table of the reaper.
 */
void reaper_close(uid_t uid, const int *fds, size_t count);

/** Returns whether a file with this mode and device is a regular file on a local block device. */
bool reaper_is_local(mode_t mode, dev_t dev);

/**
 * Closes a connected socket. The peer sees the end of the connection at once. If the socket has
 * unread bytes, which may carry descriptors, a reaper thread closes it, else the caller's thread.
 */
void reaper_close_connection(int socket);

/**
 * Returns whether no more descriptors should be taken from a user, because REAPER_FDS_MAX
 * descriptors of this user, or one of this user and REAPER_FDS_OF_ALL in all, wait to be closed.
 */
bool reaper_full(uid_t uid);
/** Returns whether REAPER_FDS_OF_ALL descriptors wait to be closed. */
bool reaper_overfull(void);
