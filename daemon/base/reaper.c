/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/reaper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/closings.h"
#include "daemon/base/crew.h"
#include "daemon/base/seam.h"

enum {
    NS_PER_MS = 1000 * 1000,
    MS_PER_S = 1000,
    SURE_THREADS = 4,
    MASTER_THREADS = 2 /* root and the user that the process runs as */
};

enum { CREW_SURE, CREW_MASTER, CREW_OTHERS, CREWS };

/* A user's work for one crew. */
struct queue {
    struct link link; /* in crew->waiting, or in no list */
    struct link work; /* pieces of work (struct reap), the oldest first */
    struct owner *owner;
    struct crew *crew;
    bool served;      /* true: a thread has taken a piece and works on it */
    pthread_t thread; /* the thread that serves the queue */
};

enum { QUEUE_SURE, QUEUE_MAY_BLOCK, QUEUES };

/* A user's work. Freed when its queues are empty. */
struct owner {
    struct link link; /* in the list reaper.owners */
    uid_t uid;
    bool full;  /* true: reaper_full() has returned true for this user */
    size_t fds; /* descriptors in the queues and with the threads */
    struct queue queues[QUEUES];
};

static void serve(struct crew *crew);

/* The mutex guards everything but total_fds. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a piece is done, or a thread has ended */
    struct crew crews[CREWS];
    struct link owners;
    size_t pieces;   /* number of pieces that were added and are not done */
    size_t finished; /* number of pieces finished since the start of the process */
    atomic_size_t total_fds;
    bool running;
    void (*relief)(void *context);
    void *context;
} reaper = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
#define CREW(crew, most)                                                                           \
    [crew] = CREW_INIT(reaper.crews[crew], serve, &reaper.mutex, &reaper.changed, most)
    .crews = {CREW(CREW_SURE, SURE_THREADS), CREW(CREW_MASTER, MASTER_THREADS),
              CREW(CREW_OTHERS, REAPER_THREADS_MIN)},
#undef CREW
    .owners = {&reaper.owners, &reaper.owners},
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

/* The queues of users for whose own queues there is no memory. */
static struct owner spare;

static struct owner *owner_of(uid_t uid)
{
    for (struct link *l = reaper.owners.next; l != &reaper.owners; l = l->next) {
        struct owner *owner = LINK_OWNER(l, struct owner, link);

        if (owner->uid == uid)
            return owner;
    }
    return NULL;
}

static void owner_init(struct owner *owner, bool master)
{
    owner->queues[QUEUE_SURE].crew = &reaper.crews[CREW_SURE];
    owner->queues[QUEUE_MAY_BLOCK].crew = &reaper.crews[master ? CREW_MASTER : CREW_OTHERS];
    for (int i = 0; i < QUEUES; i++) {
        owner->queues[i].owner = owner;
        link_init(&owner->queues[i].link);
        link_init(&owner->queues[i].work);
    }
}

static struct owner *add_owner(uid_t uid)
{
    struct owner *owner = seam.calloc(1, sizeof *owner);

    if (!owner)
        return &spare;
    owner->uid = uid;
    owner_init(owner, uid == 0 || uid == geteuid());
    link_append(&reaper.owners, &owner->link);
    return owner;
}

static bool is_full(const struct owner *owner)
{
    return owner->fds >= REAPER_FDS_MAX ||
           (owner->fds > 0 && atomic_load(&reaper.total_fds) >= REAPER_FDS_OF_ALL);
}

/*
 * Calls `relief` when half of the bound is reached, so that an owner near the bound does not cause
 * a call for each descriptor.
 */
static void call_relief(struct owner *owner)
{
    if (!owner->full || owner->fds > REAPER_FDS_MAX / 2 || is_full(owner))
        return;
    owner->full = false;
    if (reaper.relief)
        reaper.relief(reaper.context);
}

static bool is_idle(const struct owner *owner)
{
    for (int i = 0; i < QUEUES; i++)
        if (owner->queues[i].served || !link_empty(&owner->queues[i].work))
            return false;
    return true;
}

static void free_if_idle(struct owner *owner)
{
    if (owner == &spare || !is_idle(owner))
        return;
    link_remove(&owner->link);
    free(owner);
}

/* Runs the first piece of the first waiting queue. Releases the mutex meanwhile. */
static void serve(struct crew *crew)
{
    struct queue *queue = LINK_OWNER(crew->waiting.next, struct queue, link);
    struct reap *reap = LINK_OWNER(queue->work.next, struct reap, link);
    const size_t fds = reap->fds;

    link_remove(&queue->link);
    queue->served = true;
    queue->thread = pthread_self();
    link_remove(&reap->link);
    pthread_mutex_unlock(&reaper.mutex);
    reap->run(reap);
    pthread_mutex_lock(&reaper.mutex);
    queue->served = false;
    if (!link_empty(&queue->work))
        link_append(&crew->waiting, &queue->link); /* behind the queues of other users */
    /* The analyser does not see that an owner with work is never freed. */
    queue->owner->fds -= fds; /* NOLINT(clang-analyzer-unix.Malloc) */
    atomic_fetch_sub(&reaper.total_fds, fds);
    reaper.pieces--;
    reaper.finished++;
    pthread_cond_broadcast(&reaper.changed);
    call_relief(queue->owner);
    free_if_idle(queue->owner);
}

static void on_interrupt(int number)
{
    (void)number;
}

/* Catches the signal that interrupts close(2) of a socket that lingers. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}, now;

    if (sigaction(CREW_INTERRUPT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(CREW_INTERRUPT, &action, NULL);
}

static unsigned thread_count(void)
{
    unsigned count = 0;

    for (int i = 0; i < CREWS; i++)
        count += reaper.crews[i].threads;
    return count;
}

static void end_crews(void)
{
    reaper.running = false;
    reaper.relief = NULL;
    for (int i = 0; i < CREWS; i++)
        crew_end(&reaper.crews[i]);
}

/*
 * Every crew has a thread from the start, which stays: if a thread could not be created later, the
 * loop would have to close a file itself, and a file of a server that does not answer would stop
 * it.
 */
static int add_first_threads(void)
{
    int error = 0;

    for (int i = 0; i < CREWS && error == 0; i++) {
        if (reaper.crews[i].threads == 0)
            error = crew_add_thread(&reaper.crews[i]);
    }
    return error;
}

int reaper_start(unsigned threads, void (*relief)(void *context), void *context)
{
    int error = closings_reserve();

    if (error < 0)
        return error;
    if (threads < REAPER_THREADS_MIN)
        threads = REAPER_THREADS_MIN;
    if (threads > REAPER_THREADS_MAX)
        threads = REAPER_THREADS_MAX;
    catch_interrupts();
    pthread_mutex_lock(&reaper.mutex);
    crew_begin(&reaper.crews[CREW_SURE], SURE_THREADS);
    crew_begin(&reaper.crews[CREW_MASTER], MASTER_THREADS);
    crew_begin(&reaper.crews[CREW_OTHERS], threads);
    if (!spare.queues[QUEUE_SURE].crew)
        owner_init(&spare, false);
    reaper.running = true;
    reaper.relief = relief;
    reaper.context = context;
    error = add_first_threads();
    if (error)
        end_crews();
    pthread_mutex_unlock(&reaper.mutex);
    return error;
}

size_t reaper_stop(void)
{
    size_t finished, left;
    int error = 0;

    pthread_mutex_lock(&reaper.mutex);
    end_crews();
    finished = reaper.finished;
    while (thread_count() > 0 && (error == 0 || finished != reaper.finished)) {
        const struct timespec end = after_ms(REAPER_PATIENCE_MS);

        finished = reaper.finished;
        error = pthread_cond_timedwait(&reaper.changed, &reaper.mutex, &end);
    }
    for (int i = 0; i < CREWS; i++)
        crew_join(&reaper.crews[i]);
    left = reaper.pieces;
    if (left == 0)
        closings_free();
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

/* Wakes or starts a thread unless a thread serves the queue already. Returns false if the crew has
 * no threads. */
static bool call_for(struct queue *queue)
{
    if (queue->served || !link_empty(&queue->link))
        return true;
    link_append(&queue->crew->waiting, &queue->link);
    if (crew_call(queue->crew))
        return true;
    link_remove(&queue->link);
    return false;
}

/* Queues the work. Returns false if the caller must do the work. */
static bool put(uid_t uid, struct reap *reap)
{
    struct owner *owner;
    struct queue *queue;

    if (!reaper.running)
        return false;
    owner = owner_of(uid);
    if (!owner)
        owner = add_owner(uid);
    queue = &owner->queues[reap->may_block ? QUEUE_MAY_BLOCK : QUEUE_SURE];
    link_append(&queue->work, &reap->link);
    if (!call_for(queue)) {
        link_remove(&reap->link);
        free_if_idle(owner);
        return false;
    }
    owner->fds += reap->fds;
    atomic_fetch_add(&reaper.total_fds, reap->fds);
    reaper.pieces++;
    if (queue->served && owner->fds > REAPER_FDS_MAX)
        pthread_kill(queue->thread, CREW_INTERRUPT);
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

bool reaper_overfull(void)
{
    return atomic_load_explicit(&reaper.total_fds, memory_order_relaxed) >= REAPER_FDS_OF_ALL;
}

bool reaper_full(uid_t uid)
{
    struct owner *owner;
    bool full = false;

    if (atomic_load_explicit(&reaper.total_fds, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&reaper.mutex);
    owner = owner_of(uid);
    if (owner && is_full(owner))
        owner->full = full = true;
    pthread_mutex_unlock(&reaper.mutex);
    return full;
}
