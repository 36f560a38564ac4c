/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crew: threads that serve a list of waiting work. It starts with one thread, gets more while
 * work waits and `max` allows it, and all but one end after a second without work.
 *
 * A mutex of the caller's, one for all its crews, guards them: every function here is called with
 * the mutex held.
 */
#ifndef DAEMON_CREW_H
#define DAEMON_CREW_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "daemon/base/link.h"

#define CREW_INTERRUPT SIGURG /* the only signal that threads of a crew do not block */

struct crew {
    struct link waiting; /* work that no thread has taken */
    /* Takes the first work out of `waiting` and does it; may give the mutex back meanwhile. */
    void (*serve)(struct crew *crew);
    pthread_mutex_t *mutex;
    pthread_cond_t *changed; /* broadcast when a thread ends */
    pthread_cond_t wake;     /* for idle threads: there is work, or the end */
    unsigned threads, idle, max;
    bool ending;
    bool has_ended; /* `ended` is a thread that has ended and was not joined */
    pthread_t ended;
};

/** The initial value of the crew `name`. */
#define CREW_INIT(name, serve_work, its_mutex, its_changed, most)                                  \
    {                                                                                              \
        .waiting = {&(name).waiting, &(name).waiting}, .serve = (serve_work),                      \
        .mutex = (its_mutex), .changed = (its_changed), .wake = PTHREAD_COND_INITIALIZER,          \
        .max = (most)                                                                              \
    }

/** Lets the crew have threads, `max` at most. */
void crew_begin(struct crew *crew, unsigned max);

/** Starts a thread before there is work. Returns 0 or -errno. */
int crew_add_thread(struct crew *crew);

/**
 * Sees to it that a thread serves what is in `waiting`: wakes one, or starts one. False where the
 * crew has no thread and cannot get one.
 */
bool crew_call(struct crew *crew);

/** Lets the threads end when no work is left. Broadcasts `changed` as each of them ends. */
void crew_end(struct crew *crew);

/** Joins the threads that have ended. Gives the mutex back meanwhile. */
void crew_join(struct crew *crew);

#endif /* DAEMON_CREW_H */
