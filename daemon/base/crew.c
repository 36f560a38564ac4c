/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/crew.h"

#include <time.h>

enum {
    IDLE_S = 1,
    STACK_SIZE = 1024 * 1024 /* bytes of a thread's stack, thread-local variables included */
};

/* Waits for work. Returns false if this thread is no longer needed. */
static bool wait_for_work(struct crew *crew)
{
    struct timespec end; /* pthread_cond_timedwait() takes the time of day */
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += IDLE_S;
    crew->idle++;
    while (error == 0 && !crew->ending && link_empty(&crew->waiting)) {
        if (crew->threads == 1)
            error = pthread_cond_wait(&crew->wake, crew->mutex);
        else
            error = pthread_cond_timedwait(&crew->wake, crew->mutex, &end);
    }
    crew->idle--;
    return !link_empty(&crew->waiting) || (!crew->ending && crew->threads == 1);
}

/* Joins the thread that ended before this one, so that at most one ended thread is left to join. */
static void end_thread(struct crew *crew)
{
    const bool earlier = crew->has_ended;
    const pthread_t thread = crew->ended;

    crew->threads--;
    crew->has_ended = true;
    crew->ended = pthread_self();
    pthread_cond_broadcast(crew->changed);
    pthread_mutex_unlock(crew->mutex);
    if (earlier)
        pthread_join(thread, NULL);
}

static void *run(void *argument)
{
    struct crew *crew = argument;

    pthread_mutex_lock(crew->mutex);
    crew->idle--;
    do
        while (!link_empty(&crew->waiting))
            crew->serve(crew);
    while (wait_for_work(crew));
    end_thread(crew);
    return NULL;
}

int crew_add_thread(struct crew *crew)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE); /* on failure, the default size */
    sigfillset(&all);
    sigdelset(&all, CREW_INTERRUPT);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the loop handles signals */
    error = pthread_create(&thread, &attributes, run, crew);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return -error;
    crew->threads++;
    crew->idle++; /* the thread is idle until it takes its first work */
    return 0;
}

void crew_begin(struct crew *crew, unsigned max)
{
    crew->max = max;
    crew->ending = false;
}

bool crew_call(struct crew *crew)
{
    unsigned waiting = 0;

    for (const struct link *l = crew->waiting.next; l != &crew->waiting; l = l->next)
        waiting++;
    if (waiting <= crew->idle)
        pthread_cond_signal(&crew->wake);
    else if (crew->threads < crew->max)
        (void)crew_add_thread(crew); /* if this fails, a busy thread serves the work later */
    return crew->threads > 0;
}

void crew_end(struct crew *crew)
{
    crew->ending = true;
    pthread_cond_broadcast(&crew->wake);
}

void crew_join(struct crew *crew)
{
    while (crew->has_ended) {
        const pthread_t thread = crew->ended;

        crew->has_ended = false;
        pthread_mutex_unlock(crew->mutex);
        pthread_join(thread, NULL);
        pthread_mutex_lock(crew->mutex);
    }
}
