/* SPDX-License-Identifier: BSD-3-Clause */
#include "reaper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "seam.h"

enum { IDLE_S = 1, NS_PER_MS = 1000 * 1000, MS_PER_S = 1000 };

/* A user's work. It is freed when nothing is left in it. */
struct queue {
    struct link link; /* in reaper.queues */
    struct link work; /* struct reap, the oldest first */
    uid_t uid;
    bool served; /* by a thread, which has taken a piece out */
    bool full;   /* reaper_full() has answered true for it */
    size_t fds;  /* in `work` and with the thread */
};

/* All but total_fds, which is also read without it, is guarded by the mutex. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t wake;    /* for idle threads: there is work, or the end */
    pthread_cond_t changed; /* for who waits: a piece is done, or a thread has ended */
    struct link queues;
    size_t pieces;   /* added and not done */
    size_t finished; /* since the start of the process */
    atomic_size_t total_fds;
    unsigned threads, idle;
    bool running;
    void (*relief)(void *context);
    void *context;
} reaper = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .queues = {&reaper.queues, &reaper.queues},
};

/* pthread_cond_timedwait() takes the time of day. */
static struct timespec after_ms(long ms)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += ms / MS_PER_S;
    time.tv_nsec += ms % MS_PER_S * NS_PER_MS;
    if (time.tv_nsec >= (long)MS_PER_S * NS_PER_MS) {
        time.tv_sec++;
        time.tv_nsec -= (long)MS_PER_S * NS_PER_MS;
    }
    return time;
}

/* The first queue that no thread serves, or null; *count is how many there are. They have work. */
static struct queue *unserved(unsigned *count)
{
    struct queue *first = NULL;

    *count = 0;
    for (struct link *l = reaper.queues.next; l != &reaper.queues; l = l->next) {
        struct queue *queue = LINK_OWNER(l, struct queue, link);

        if (queue->served)
            continue;
        if (++*count == 1)
            first = queue;
    }
    return first;
}

static struct queue *queue_of(uid_t uid)
{
    for (struct link *l = reaper.queues.next; l != &reaper.queues; l = l->next) {
        struct queue *queue = LINK_OWNER(l, struct queue, link);

        if (queue->uid == uid)
            return queue;
    }
    return NULL;
}

static bool is_full(const struct queue *queue)
{
    return queue->fds >= REAPER_FDS_MAX ||
           (queue->fds > 0 && atomic_load(&reaper.total_fds) >= REAPER_FDS_OF_ALL);
}

/* Half of the bound, so that a queue near it does not call for each descriptor. */
static void tell_relief(struct queue *queue)
{
    if (!queue->full || queue->fds > REAPER_FDS_MAX / 2 || is_full(queue))
        return;
    queue->full = false;
    if (reaper.relief)
        reaper.relief(reaper.context);
}

/* Runs the first piece of a queue, without the mutex meanwhile. */
static void serve(struct queue *queue)
{
    struct reap *reap = LINK_OWNER(queue->work.next, struct reap, link);
    const size_t fds = reap->fds;

    queue->served = true;
    link_remove(&reap->link);
    pthread_mutex_unlock(&reaper.mutex);
    reap->run(reap);
    pthread_mutex_lock(&reaper.mutex);
    queue->served = false;
    queue->fds -= fds;
    atomic_fetch_sub(&reaper.total_fds, fds);
    reaper.pieces--;
    reaper.finished++;
    pthread_cond_broadcast(&reaper.changed);
    tell_relief(queue);
    link_remove(&queue->link);
    if (link_empty(&queue->work))
        free(queue);
    else
        link_append(&reaper.queues, &queue->link); /* the other users' turn first */
}

/* Waits for work. False where this thread is not needed any more. */
static bool wait_for_work(void)
{
    const struct timespec end = after_ms(IDLE_S * MS_PER_S);
    unsigned waiting;
    int error = 0;

    reaper.idle++;
    while (error == 0 && reaper.running && !unserved(&waiting)) {
        if (reaper.threads == 1)
            error = pthread_cond_wait(&reaper.wake, &reaper.mutex);
        else
            error = pthread_cond_timedwait(&reaper.wake, &reaper.mutex, &end);
    }
    reaper.idle--;
    return unserved(&waiting) || (reaper.running && reaper.threads == 1);
}

static void *run(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&reaper.mutex);
    reaper.idle--;
    do {
        struct queue *queue;
        unsigned waiting;

        while ((queue = unserved(&waiting)))
            serve(queue);
    } while (wait_for_work());
    reaper.threads--;
    pthread_cond_broadcast(&reaper.changed);
    pthread_mutex_unlock(&reaper.mutex);
    return NULL;
}

/* With the mutex held. Returns 0 or -errno. */
static int add_thread(void)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the process's signals are the loop's business */
    error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return -error;
    reaper.threads++;
    reaper.idle++; /* until it takes its first piece */
    return 0;
}

int reaper_start(void (*relief)(void *context), void *context)
{
    int error = 0;

    pthread_mutex_lock(&reaper.mutex);
    reaper.running = true;
    if (reaper.idle == 0)
        error = add_thread();
    reaper.running = error == 0;
    reaper.relief = error == 0 ? relief : NULL;
    reaper.context = context;
    pthread_mutex_unlock(&reaper.mutex);
    return error;
}

size_t reaper_stop(void)
{
    size_t finished, left;
    int error = 0;

    pthread_mutex_lock(&reaper.mutex);
    reaper.running = false;
    reaper.relief = NULL;
    pthread_cond_broadcast(&reaper.wake);
    finished = reaper.finished;
    while (reaper.threads > 0 && (error == 0 || finished != reaper.finished)) {
        const struct timespec end = after_ms(REAPER_PATIENCE_MS);

        finished = reaper.finished;
        error = pthread_cond_timedwait(&reaper.changed, &reaper.mutex, &end);
    }
    left = reaper.pieces;
    pthread_mutex_unlock(&reaper.mutex);
    return left;
}

void reaper_wait(void)
{
    pthread_mutex_lock(&reaper.mutex);
    while (reaper.pieces > 0)
        pthread_cond_wait(&reaper.changed, &reaper.mutex);
    pthread_mutex_unlock(&reaper.mutex);
}

static struct queue *add_queue(uid_t uid)
{
    struct queue *queue = seam.calloc(1, sizeof *queue);

    if (!queue)
        return NULL;
    queue->uid = uid;
    link_init(&queue->work);
    link_append(&reaper.queues, &queue->link);
    return queue;
}

/* Each queue that is not served gets an idle thread, or a new one while there may be more. */
static void call_thread(void)
{
    unsigned waiting;

    (void)unserved(&waiting);
    if (waiting <= reaper.idle)
        pthread_cond_signal(&reaper.wake);
    else if (reaper.threads < REAPER_THREADS_MAX)
        (void)add_thread(); /* if that fails, a busy thread serves the queue when it is done */
}

/* False where the caller must do the work. */
static bool put(uid_t uid, struct reap *reap)
{
    struct queue *queue;

    if (!reaper.running)
        return false;
    queue = queue_of(uid);
    if (!queue)
        queue = add_queue(uid);
    if (!queue)
        return false;
    link_append(&queue->work, &reap->link);
    queue->fds += reap->fds;
    atomic_fetch_add(&reaper.total_fds, reap->fds);
    reaper.pieces++;
    if (!queue->served)
        call_thread();
    return true;
}

void reaper_add(uid_t uid, struct reap *reap)
{
    bool taken;

    pthread_mutex_lock(&reaper.mutex);
    taken = put(uid, reap);
    pthread_mutex_unlock(&reaper.mutex);
    if (!taken)
        reap->run(reap);
}

struct batch {
    struct reap reap;
    int fds[];
};

static void close_batch(struct reap *reap)
{
    struct batch *batch = LINK_OWNER(reap, struct batch, reap);

    for (size_t i = 0; i < reap->fds; i++)
        seam.close(batch->fds[i]);
    free(batch);
}

void reaper_close(uid_t uid, const int *fds, size_t count)
{
    struct batch *batch;

    if (count == 0)
        return;
    batch = seam.calloc(1, sizeof *batch + count * sizeof *fds);
    if (!batch) {
        for (size_t i = 0; i < count; i++)
            seam.close(fds[i]);
        return;
    }
    batch->reap = (struct reap){.run = close_batch, .fds = count};
    memcpy(batch->fds, fds, count * sizeof *fds);
    reaper_add(uid, &batch->reap);
}

void reaper_close_connection(int socket)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof peer;

    (void)getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length); /* TCP has no peer's uid */
    shutdown(socket, SHUT_RDWR);
    reaper_close(peer.uid, &socket, 1);
}

bool reaper_overfull(void)
{
    return atomic_load_explicit(&reaper.total_fds, memory_order_relaxed) >= REAPER_FDS_OF_ALL;
}

bool reaper_full(uid_t uid)
{
    struct queue *queue;
    bool full = false;

    if (atomic_load_explicit(&reaper.total_fds, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&reaper.mutex);
    queue = queue_of(uid);
    if (queue && is_full(queue))
        queue->full = full = true;
    pthread_mutex_unlock(&reaper.mutex);
    return full;
}
