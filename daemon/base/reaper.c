/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/reaper.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/seam.h"

enum {
    NS_PER_MS = 1000 * 1000,
    MS_PER_S = 1000,
    SURE_THREADS = 4,
    MASTER_THREADS = 2, /* root and the user that the process runs as */
    IDLE_S = 1,
    STACK_SIZE = 1024 * 1024 /* bytes of a thread's stack, thread-local variables included */
};

#define INTERRUPT SIGURG /* the only signal that crew threads do not block */

enum { CREW_SURE, CREW_MASTER, CREW_OTHERS, CREWS };

/*
 * A crew: threads that serve a list of waiting work. It starts with one thread, and gets more while
 * work waits, up to `max`. All threads but one end after a second without work.
 */
struct crew {
    struct link waiting; /* queues with work that no thread serves (struct queue) */
    pthread_cond_t wake; /* wakes idle threads: work was added, or the crew stops */
    unsigned threads, idle, max;
    bool ending;
    bool has_ended; /* true: `ended` is a thread that was not joined yet */
    pthread_t ended;
};

/* One user's work for a crew: a group of threads that does the same kind of work. */
struct queue {
    struct link link; /* link in crew->waiting, or in no list */
    struct link work; /* pieces of work (struct reap), the oldest first */
    struct owner *owner;
    struct crew *crew;
    bool served;      /* true: a thread has taken a piece and works on it */
    pthread_t thread; /* the thread that serves the queue */
};

enum { QUEUE_SURE, QUEUE_MAY_BLOCK, QUEUES };

/* A user's work. Freed when its queues are empty. */
struct owner {
    struct link link; /* link in the list reaper.owners */
    uid_t uid;
    bool full;  /* true: reaper_full() has returned true for this user */
    size_t fds; /* descriptors in the queues and with the threads */
    struct queue queues[QUEUES];
};

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
    [crew] = {.waiting = {&reaper.crews[crew].waiting, &reaper.crews[crew].waiting},               \
              .wake = PTHREAD_COND_INITIALIZER,                                                    \
              .max = most}
    .crews = {CREW(CREW_SURE, SURE_THREADS), CREW(CREW_MASTER, MASTER_THREADS),
              CREW(CREW_OTHERS, REAPER_THREADS_MIN)},
#undef CREW
    .owners = {&reaper.owners, &reaper.owners},
};

/* The threads. The mutex is held in all these functions. */

static void serve(struct crew *crew);

/* Waits for work. Returns false if this thread is no longer needed. */
static bool wait_for_work(struct crew *crew)
{
    struct timespec end; /* pthread_cond_timedwait() needs the time of day */
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += IDLE_S;
    crew->idle++;
    while (error == 0 && !crew->ending && link_empty(&crew->waiting)) {
        if (crew->threads == 1)
            error = pthread_cond_wait(&crew->wake, &reaper.mutex);
        else
            error = pthread_cond_timedwait(&crew->wake, &reaper.mutex, &end);
    }
    crew->idle--;
    return !link_empty(&crew->waiting) || (!crew->ending && crew->threads == 1);
}

/* Joins the thread that ended before this one, so that at most one ended thread is not joined. */
static void end_thread(struct crew *crew)
{
    const bool earlier = crew->has_ended;
    const pthread_t thread = crew->ended;

    crew->threads--;
    crew->has_ended = true;
    crew->ended = pthread_self();
    pthread_cond_broadcast(&reaper.changed);
    pthread_mutex_unlock(&reaper.mutex);
    if (earlier)
        pthread_join(thread, NULL);
}

static void *run_thread(void *argument)
{
    struct crew *crew = argument;

    pthread_mutex_lock(&reaper.mutex);
    crew->idle--;
    do
        while (!link_empty(&crew->waiting))
            serve(crew);
    while (wait_for_work(crew));
    end_thread(crew);
    return NULL;
}

/* Starts a thread, even if no work waits. Returns 0 or -errno. */
static int crew_add_thread(struct crew *crew)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error)
        return -error;
    (void)pthread_attr_setstacksize(&attributes, STACK_SIZE); /* may fail: default size */
    sigfillset(&all);
    sigdelset(&all, INTERRUPT);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the loop handles signals */
    error = pthread_create(&thread, &attributes, run_thread, crew);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return -error;
    crew->threads++;
    crew->idle++; /* the thread is idle until it takes its first work */
    return 0;
}

/*
 * Wakes or starts a thread for the work in `waiting`. Returns false if the crew has no thread and
 * cannot start a thread.
 */
static bool crew_call(struct crew *crew)
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

/* Joins the threads that have ended. Releases the mutex while it waits. */
static void crew_join(struct crew *crew)
{
    while (crew->has_ended) {
        const pthread_t thread = crew->ended;

        crew->has_ended = false;
        pthread_mutex_unlock(&reaper.mutex);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&reaper.mutex);
    }
}

/* The table. */

enum {
    SMALL_MAX = 4 * 1024 * 1024, /* maximum size of a file in memory that is closed at once: closing
                                    a larger one takes long */
    BLOCK = 512,                 /* size in bytes of the unit of st_blocks */
    CLOSE_MAX = 64,              /* maximum number of descriptors in one piece of work */
    TABLE_MAX = 1 << 18 /* maximum number of descriptors; 4096 clients, the most that mlid serves,
                           have fewer */
};

/*
 * The table of descriptors that wait to be closed has an entry for each descriptor that the process
 * can have, so that no descriptor needs memory when it must be closed. Memory pages of entries that
 * were never used are not resident.
 *
 * Entry `fd` belongs to the thread that has to close descriptor `fd`. Before it closes the
 * descriptor, it sets `waits` to false with release order. The next owner reads `waits` with
 * acquire order. close(2) and open(2) have the same order, but the C memory model does not know it.
 */
struct waiting_fd {
    struct reap reap; /* the work that closes the descriptors; used in the first one's entry */
    int next;         /* the next descriptor of the piece; -1: none */
    atomic_bool waits;
};

static struct {
    struct waiting_fd *entries;
    int size;
} table;

/*
 * Allocates the table for the descriptors that the hard limit of the process allows, unless the
 * table exists. Returns 0 or -errno.
 */
static int reserve_table(void)
{
    struct rlimit limit;
    int size = TABLE_MAX;

    /* A new configuration may raise the soft limit later. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < TABLE_MAX)
        size = (int)limit.rlim_max;
    if (table.entries) /* descriptors that reaper_stop() has left still wait */
        return 0;
    table.entries = seam.calloc((size_t)size, sizeof *table.entries);
    if (!table.entries)
        return -ENOMEM;
    table.size = size;
    return 0;
}

static void free_table(void)
{
    free(table.entries);
    table.entries = NULL;
    table.size = 0;
}

/* The queues of the users. */

/* pthread_cond_timedwait() needs the time of day. */
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

/* The queues of all users for whom no queues could be allocated. */
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
 * Calls `relief` when the number of descriptors has fallen to half of the bound, so that an owner
 * near the bound does not cause a call for each descriptor.
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

/* Runs the first piece of the first waiting queue. Releases the mutex while the piece runs. */
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
        link_append(&crew->waiting,
                    &queue->link); /* append the queue behind the queues of other users */
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

    if (sigaction(INTERRUPT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(INTERRUPT, &action, NULL);
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
    for (int i = 0; i < CREWS; i++) {
        reaper.crews[i].ending = true;
        pthread_cond_broadcast(&reaper.crews[i].wake);
    }
}

/*
 * Every crew has at least one thread from the start to the end: if a thread could not be created
 * later, the loop would have to close files itself, and a file of a server that does not answer
 * would stop the loop.
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
    int error = reserve_table();

    if (error < 0)
        return error;
    if (threads < REAPER_THREADS_MIN)
        threads = REAPER_THREADS_MIN;
    if (threads > REAPER_THREADS_MAX)
        threads = REAPER_THREADS_MAX;
    catch_interrupts();
    pthread_mutex_lock(&reaper.mutex);
    for (int i = 0; i < CREWS; i++)
        reaper.crews[i].ending = false;
    reaper.crews[CREW_OTHERS].max = threads;
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
        free_table();
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
        pthread_kill(queue->thread, INTERRUPT);
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

/* Decides which descriptors are closed at once, and which by a reaper thread. */

/* Reads each entry before it closes the descriptor: afterwards the number of the descriptor, and so
 * the entry, may have a new owner. */
static void close_piece(struct reap *reap)
{
    int fd = (int)(LINK_OWNER(reap, struct waiting_fd, reap) - table.entries);

    while (fd >= 0) {
        struct waiting_fd *entry = &table.entries[fd];
        const int next = entry->next;

        atomic_store_explicit(&entry->waits, false, memory_order_release);
        seam.close(fd);
        fd = next;
    }
}

/* Returns the entry of a descriptor that must be closed. */
static struct waiting_fd *take_entry(int fd)
{
    struct waiting_fd *entry = &table.entries[fd];
    const bool waits = atomic_load_explicit(&entry->waits, memory_order_acquire);

    assert(!waits); /* a descriptor must not be added twice */
    (void)waits;
    atomic_store_explicit(&entry->waits, true, memory_order_relaxed);
    return entry;
}

static void close_later(uid_t uid, const int *fds, size_t count, bool may_block)
{
    size_t taken = 0;
    int first = -1;

    while (count-- > 0) {
        const int fd = fds[count];

        if (fd >= table.size) {
            seam.close(fd);
            continue;
        }
        take_entry(fd)->next = first;
        first = fd;
        taken++;
    }
    if (taken == 0)
        return;
    table.entries[first].reap =
        (struct reap){.run = close_piece, .fds = taken, .may_block = may_block};
    reaper_add(uid, &table.entries[first].reap);
}

bool reaper_is_local(mode_t mode, dev_t dev)
{
    return S_ISREG(mode) && major(dev) != 0; /* major number 0: no block device */
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

    shutdown(socket, SHUT_RDWR); /* from now on, the peer cannot send bytes or descriptors */
    if (ioctl(socket, FIONREAD, &unread) == 0 && unread == 0) {
        seam.close(socket);
        return;
    }
    (void)getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length); /* TCP: the uid is -1 */
    close_later(peer.uid, &socket, 1, true);
}
