/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A crew: threads that serve a list of waiting work. It starts with one thread, gets more while
 * work waits and `max` allows it, and all but one end after a second without work.
 *
 * The caller has one mutex for all its crews, and holds it when it calls any function here.
 */
#ifndef DAEMON_CREW_H
#define DAEMON_CREW_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "daemon/base/link.h"

#define CREW_INTERRUPT SIGURG /* the only signal that crew threads do not block */

struct crew {
    struct link waiting; /* work that no thread has taken */
    /* Takes the first work out of `waiting` and does the work; may release the mutex meanwhile. */
    void (*serve)(struct crew *crew);
    pthread_mutex_t *mutex;
    pthread_cond_t *changed; /* broadcast when a thread ends */
    pthread_cond_t wake;     /* wakes idle threads: work has come, or the crew ends */
    unsigned threads, idle, max;
    bool ending;
    bool has_ended; /* true: `ended` is a thread that was not joined yet */
    pthread_t ended;
};

/** Expands to the initial value of the crew `name`. */
#define CREW_INIT(name, serve_work, its_mutex, its_changed, most)                                  \
    {                                                                                              \
        .waiting = {&(name).waiting, &(name).waiting}, .serve = (serve_work),                      \
        .mutex = (its_mutex), .changed = (its_changed), .wake = PTHREAD_COND_INITIALIZER,          \
        .max = (most)                                                                              \
    }

/** Allows the crew to have up to `max` threads. */
void crew_begin(struct crew *crew, unsigned max);

/** Starts a thread in advance. Returns 0 or -errno. */
int crew_add_thread(struct crew *crew);

/**
 * Wakes or starts a thread for the work in `waiting`. Returns false if the crew has no thread and
 * cannot start a thread.
 */
bool crew_call(struct crew *crew);

/** Makes the threads end when no work is left. Each broadcasts `changed` when it ends. */
void crew_end(struct crew *crew);

/** Joins the threads that have ended. Releases the mutex meanwhile. */
void crew_join(struct crew *crew);

#endif /* DAEMON_CREW_H */
