/* SPDX-License-Identifier: BSD-3-Clause */
#include "reaper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "seam.h"

enum {
    IDLE_S = 1,
    NS_PER_MS = 1000 * 1000,
    MS_PER_S = 1000,
    STACK_SIZE = 1024 * 1024, /* thread-local variables included */
    SURE_THREADS = 4,
    MASTER_THREADS = 2,          /* root and the user that the process runs as */
    SMALL_MAX = 4 * 1024 * 1024, /* bytes of a file in memory that are freed in no time */
    BLOCK = 512,                 /* bytes, the unit of st_blocks */
    CLOSE_MAX = 64               /* descriptors in one piece of work */
};

/* Threads for one kind of work. */
struct crew {
    pthread_cond_t wake; /* for idle threads: there is work, or the end */
    struct link waiting; /* lanes with work that no thread serves */
    unsigned threads, idle, max;
};

#define INTERRUPT SIGURG

enum { CREW_SURE, CREW_MASTER, CREW_OTHERS, CREWS };

/* A user's work for one crew. */
struct lane {
    struct link link; /* in crew->waiting, or alone */
    struct link work; /* struct reap, the oldest first */
    struct queue *queue;
    struct crew *crew;
    bool served;      /* by a thread, which has taken a piece out */
    pthread_t thread; /* which serves it */
};

enum { LANE_SURE, LANE_MAY_BLOCK, LANES };

/* A user's work. It is freed when nothing is left in its lanes. */
struct queue {
    struct link link; /* in reaper.queues */
    uid_t uid;
    bool full;  /* reaper_full() has answered true for it */
    size_t fds; /* in the lanes and with the threads */
    struct lane lanes[LANES];
};

/* The mutex guards everything but total_fds. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a piece is done, or a thread has ended */
    struct crew crews[CREWS];
    struct link queues;
    size_t pieces;   /* added and not done */
    size_t finished; /* since the start of the process */
    atomic_size_t total_fds;
    bool running;
    void (*relief)(void *context);
    void *context;
} reaper = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
#define CREW(crew, most)                                                                           \
    [crew] = {.wake = PTHREAD_COND_INITIALIZER,                                                    \
              .waiting = {&reaper.crews[crew].waiting, &reaper.crews[crew].waiting},               \
              .max = (most)}
    .crews = {CREW(CREW_SURE, SURE_THREADS), CREW(CREW_MASTER, MASTER_THREADS),
              CREW(CREW_OTHERS, REAPER_THREADS_MIN)},
#undef CREW
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

static bool is_idle(const struct queue *queue)
{
    for (int i = 0; i < LANES; i++)
        if (queue->lanes[i].served || !link_empty(&queue->lanes[i].work))
            return false;
    return true;
}

static void free_if_idle(struct queue *queue)
{
    if (!is_idle(queue))
        return;
    link_remove(&queue->link);
    free(queue);
}

/* Runs the first piece of the first lane that waits, without the mutex meanwhile. */
static void serve(struct crew *crew)
{
    struct lane *lane = LINK_OWNER(crew->waiting.next, struct lane, link);
    struct reap *reap = LINK_OWNER(lane->work.next, struct reap, link);
    const size_t fds = reap->fds;

    link_remove(&lane->link);
    lane->served = true;
    lane->thread = pthread_self();
    link_remove(&reap->link);
    pthread_mutex_unlock(&reaper.mutex);
    reap->run(reap);
    pthread_mutex_lock(&reaper.mutex);
    lane->served = false;
    if (!link_empty(&lane->work))
        link_append(&crew->waiting, &lane->link); /* after the other users */
    /* A lane that waits has work, and a queue with work is not freed: the analyzer cannot know. */
    lane->queue->fds -= fds; /* NOLINT(clang-analyzer-unix.Malloc) */
    atomic_fetch_sub(&reaper.total_fds, fds);
    reaper.pieces--;
    reaper.finished++;
    pthread_cond_broadcast(&reaper.changed);
    tell_relief(lane->queue);
    free_if_idle(lane->queue);
}

/* Waits for work. False where this thread is not needed any more. */
static bool wait_for_work(struct crew *crew)
{
    const struct timespec end = after_ms(IDLE_S * MS_PER_S);
    int error = 0;

    crew->idle++;
    while (error == 0 && reaper.running && link_empty(&crew->waiting)) {
        if (crew->threads == 1)
            error = pthread_cond_wait(&crew->wake, &reaper.mutex);
        else
            error = pthread_cond_timedwait(&crew->wake, &reaper.mutex, &end);
    }
    crew->idle--;
    return !link_empty(&crew->waiting) || (reaper.running && crew->threads == 1);
}

static void *run(void *argument)
{
    struct crew *crew = argument;

    pthread_mutex_lock(&reaper.mutex);
    crew->idle--;
    do
        while (!link_empty(&crew->waiting))
            serve(crew);
    while (wait_for_work(crew));
    crew->threads--;
    pthread_cond_broadcast(&reaper.changed);
    pthread_mutex_unlock(&reaper.mutex);
    return NULL;
}

static void on_interrupt(int number)
{
    (void)number;
}

/* The signal ends a system call of a reaper thread: close(2) of a socket that lingers returns. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}, now;

    if (sigaction(INTERRUPT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(INTERRUPT, &action, NULL);
}

/* With the mutex held. Returns 0 or -errno. */
static int add_thread(struct crew *crew)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE); /* else the usual size */
    sigfillset(&all);
    sigdelset(&all, INTERRUPT);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the process's signals are the loop's business */
    error = pthread_create(&thread, &attributes, run, crew);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return -error;
    crew->threads++;
    crew->idle++; /* until it takes its first piece */
    return 0;
}

static unsigned thread_count(void)
{
    unsigned count = 0;

    for (int i = 0; i < CREWS; i++)
        count += reaper.crews[i].threads;
    return count;
}

int reaper_start(unsigned threads, void (*relief)(void *context), void *context)
{
    struct crew *sure = &reaper.crews[CREW_SURE];
    int error = 0;

    if (threads < REAPER_THREADS_MIN)
        threads = REAPER_THREADS_MIN;
    catch_interrupts();
    pthread_mutex_lock(&reaper.mutex);
    reaper.running = true;
    if (sure->idle == 0)
        error = add_thread(sure);
    reaper.crews[CREW_OTHERS].max = threads < REAPER_THREADS_MAX ? threads : REAPER_THREADS_MAX;
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
    for (int i = 0; i < CREWS; i++)
        pthread_cond_broadcast(&reaper.crews[i].wake);
    finished = reaper.finished;
    while (thread_count() > 0 && (error == 0 || finished != reaper.finished)) {
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
    const bool master = uid == 0 || uid == geteuid();

    if (!queue)
        return NULL;
    queue->uid = uid;
    queue->lanes[LANE_SURE].crew = &reaper.crews[CREW_SURE];
    queue->lanes[LANE_MAY_BLOCK].crew = &reaper.crews[master ? CREW_MASTER : CREW_OTHERS];
    for (int i = 0; i < LANES; i++) {
        queue->lanes[i].queue = queue;
        link_init(&queue->lanes[i].link);
        link_init(&queue->lanes[i].work);
    }
    link_append(&reaper.queues, &queue->link);
    return queue;
}

/* Each lane that waits gets an idle thread, or a new one while the crew may have more. */
static void call_thread(struct crew *crew)
{
    unsigned waiting = 0;

    for (const struct link *l = crew->waiting.next; l != &crew->waiting; l = l->next)
        waiting++;
    if (waiting <= crew->idle)
        pthread_cond_signal(&crew->wake);
    else if (crew->threads < crew->max)
        (void)add_thread(crew); /* if that fails, a busy thread serves the lane when it is done */
}

/* Calls a thread if none serves the lane. False where the crew has no threads at all. */
static bool call_for(struct lane *lane)
{
    if (lane->served || !link_empty(&lane->link))
        return true;
    link_append(&lane->crew->waiting, &lane->link);
    call_thread(lane->crew);
    if (lane->crew->threads > 0)
        return true;
    link_remove(&lane->link);
    return false;
}

/* False where the caller must do the work. */
static bool put(uid_t uid, struct reap *reap)
{
    struct queue *queue;
    struct lane *lane;

    if (!reaper.running)
        return false;
    queue = queue_of(uid);
    if (!queue)
        queue = add_queue(uid);
    if (!queue)
        return false;
    lane = &queue->lanes[reap->may_block ? LANE_MAY_BLOCK : LANE_SURE];
    link_append(&lane->work, &reap->link);
    if (!call_for(lane)) {
        link_remove(&reap->link);
        free_if_idle(queue);
        return false;
    }
    queue->fds += reap->fds;
    atomic_fetch_add(&reaper.total_fds, reap->fds);
    reaper.pieces++;
    if (lane->served && queue->fds > REAPER_FDS_MAX)
        pthread_kill(lane->thread, INTERRUPT);
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

static void close_later(uid_t uid, const int *fds, size_t count, bool may_block)
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
    batch->reap = (struct reap){.run = close_batch, .fds = count, .may_block = may_block};
    memcpy(batch->fds, fds, count * sizeof *fds);
    reaper_add(uid, &batch->reap);
}

bool reaper_is_local(mode_t mode, dev_t dev)
{
    return S_ISREG(mode) && major(dev) != 0; /* a block device */
}

enum closing { CLOSING_NOW, CLOSING_SURE, CLOSING_MAY_BLOCK };

static enum closing closing_of(int fd)
{
    const bool memory = seam.seals(fd) >= 0; /* only files in memory can be sealed */
    struct stat st;

    if (seam.fstat(fd, &st) < 0)
        return CLOSING_MAY_BLOCK;
    if (memory)
        return st.st_blocks <= SMALL_MAX / BLOCK ? CLOSING_NOW : CLOSING_SURE;
    return reaper_is_local(st.st_mode, st.st_dev) ? CLOSING_SURE : CLOSING_MAY_BLOCK;
}

void reaper_close(uid_t uid, const int *fds, size_t count)
{
    int sure[CLOSE_MAX], others[CLOSE_MAX];
    size_t sure_count = 0, other_count = 0;

    for (size_t i = 0; i < count; i++) {
        switch (closing_of(fds[i])) {
        case CLOSING_NOW:
            seam.close(fds[i]);
            break;
        case CLOSING_SURE:
            sure[sure_count++] = fds[i];
            break;
        default:
            others[other_count++] = fds[i];
        }
        if (sure_count == CLOSE_MAX || other_count == CLOSE_MAX) {
            close_later(uid, sure, sure_count, false);
            close_later(uid, others, other_count, true);
            sure_count = other_count = 0;
        }
    }
    close_later(uid, sure, sure_count, false);
    close_later(uid, others, other_count, true);
}

void reaper_close_connection(int socket)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t length = sizeof peer;
    int unread;

    shutdown(socket, SHUT_RDWR); /* no more bytes or descriptors come from now on */
    if (ioctl(socket, FIONREAD, &unread) == 0 && unread == 0) {
        seam.close(socket);
        return;
    }
    (void)getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length); /* TCP has no peer's uid */
    close_later(peer.uid, &socket, 1, true);
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
