/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/flight.h"

#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { CHANNELS_DEFAULT_MAX = 4 };

/*
 * The lock protects all members of `pool`, and the private members of flights. It is never held
 * while a transfer starts, because the callback of a short transfer runs at once, on the same
 * thread.
 */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a flight is done */
    struct flight *active[MLI_MOV_MAX_CHANNELS];
    struct flight *first, *last; /* queue */
    struct flight *done;
    uint32_t channels; /* 0: not set yet */
    uint32_t count;    /* active flights */
    bool closed, fork_handlers;
    bool configuring;      /* true: new starts wait */
    bool without_channels; /* true in a forked child whose parent had transfers at the time */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void pump(void);

/* The end of a flight */

/* Call it with the lock held. */
static void complete(struct flight *flight, mli_status status)
{
    const uint64_t one = 1;

    flight->status = status;
    flight->state = FLIGHT_DONE;
    flight->next = pool.done;
    pool.done = flight;
    if (flight->notify >= 0 && write(flight->notify, &one, sizeof(one)) < 0) {
        /* write() fails only if the counter is full; then its reader is awake already. */
    }
    pthread_cond_broadcast(&pool.changed);
}

static void land(uint32_t slot, mli_status status)
{
    struct flight *flight;

    pthread_mutex_lock(&pool.lock);
    flight = pool.active[slot];
    pool.active[slot] = NULL;
    pool.count--;
    mli_mov_release_handle(&flight->handle);
    complete(flight, status);
    pthread_mutex_unlock(&pool.lock);
    pump();
}

/* Moves */

/* Prepares and starts the next move. Returns MLI_STATUS_OK, or a status if the flight could not
 * continue. */
static mli_status go_on(struct flight *flight, bool *last)
{
    mli_status status = MLI_STATUS_OK;
    struct move move;

    pthread_mutex_lock(&pool.lock);
    *last = !move_iterator_next(&flight->moves, &move);
    if (flight->cancelled)
        status = MLI_STATUS_CANCELLED;
    else if (!*last)
        status = mli_mov_prepare(&flight->handle, &move.src, &move.cfg, &move.dst);
    pthread_mutex_unlock(&pool.lock);
    if (status == MLI_STATUS_OK && !*last)
        status = mli_mov_start(&flight->handle, NULL, NULL, NULL);
    return status;
}

/* The callback of a transfer. */
static void transfer_done(int32_t slot)
{
    struct flight *flight = pool.active[slot];
    mli_mov_status_t transfer;
    mli_status status;
    bool last = false;

    mli_mov_get_status(&flight->handle, &transfer);
    status = transfer.code;
    if (status == MLI_STATUS_OK)
        status = go_on(flight, &last);
    if (status != MLI_STATUS_OK || last)
        land((uint32_t)slot, status);
}

static void launch(struct flight *flight, uint32_t slot)
{
    mli_status status;
    bool last;

    mli_mov_registercallback(&flight->handle, transfer_done, (int32_t)slot);
    status = go_on(flight, &last);
    if (status != MLI_STATUS_OK || last)
        land(slot, status);
}

/* Removes the first flight from the queue if its channels are free. Returns null otherwise. */
static struct flight *take_ready(uint32_t *slot)
{
    struct flight *flight;

    pthread_mutex_lock(&pool.lock);
    flight = pool.first;
    if (flight && mli_mov_acquire_handle((int)flight->channels, &flight->handle) == MLI_STATUS_OK) {
        pool.first = flight->next;
        flight->next = NULL;
        flight->state = FLIGHT_RUNNING;
        for (*slot = 0; pool.active[*slot]; ++*slot) {
            /* every active flight has a channel, so there is a free slot */
        }
        pool.active[*slot] = flight;
        pool.count++;
    } else {
        flight = NULL;
    }
    pthread_mutex_unlock(&pool.lock);
    return flight;
}

/* Launches queued flights, as long as there are free channels for the first flight in the queue. */
static void pump(void)
{
    struct flight *flight;
    uint32_t slot;

    while ((flight = take_ready(&slot)))
        launch(flight, slot);
}

/* Forks */

static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* Ends the child's copy of a flight. */
static void leave_to_parent(struct flight *flight)
{
    flight->of_parent = true;
    complete(flight, MLI_STATUS_CANCELLED);
}

/* The child has no channel threads: flights of the parent never end in the child. */
static void after_fork_in_child(void)
{
    struct flight *flight;

    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.changed, NULL);
    pool.without_channels = pool.count > 0;
    pool.channels = 0;
    pool.count = 0;
    pool.configuring = false;
    for (uint32_t i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        if (pool.active[i])
            leave_to_parent(pool.active[i]);
        pool.active[i] = NULL;
    }
    while ((flight = pool.first)) {
        pool.first = flight->next;
        leave_to_parent(flight);
    }
}

/* The pool */

static uint32_t default_channels(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors < 1                      ? 1
           : processors > CHANNELS_DEFAULT_MAX ? CHANNELS_DEFAULT_MAX
                                               : (uint32_t)processors;
}

static mli_status set_channels(uint32_t channels)
{
    mli_status status =
        mli_mov_set_num_dma_ch(0, 0); /* a forked child does not have the parent's threads */

    if (status == MLI_STATUS_OK)
        status = mli_mov_set_num_dma_ch(0, (int)channels);
    pool.channels = status == MLI_STATUS_OK ? channels : 0;
    if (!pool.fork_handlers && status == MLI_STATUS_OK)
        pool.fork_handlers =
            pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    return status;
}

/* Call it with the lock held. No channel thread is running yet, so this cannot block on one. */
static mli_status open_pool(void)
{
    if (pool.channels > 0 || pool.without_channels)
        return MLI_STATUS_OK;
    return set_channels(default_channels());
}

static const char ENDING[] = "the interpreter is ending";

/* Returns why the pool cannot be configured now; null: it can be configured. Call it with the lock
 * held. */
static const char *why_not_configurable(void)
{
    if (pool.closed)
        return ENDING;
    if (pool.without_channels)
        return "this process was forked while transfers ran, and has no channels: configure the "
               "engine before the fork, or fork when no transfer runs";
    if (pool.configuring)
        return "another thread configures the engine";
    return pool.count > 0 || pool.first
               ? "a transfer runs: wait for its end with transfer.result(), or cancel it"
               : NULL;
}

mli_status flight_configure(const char *engine, uint32_t channels, const char **why)
{
    mli_status status;

    pthread_mutex_lock(&pool.lock);
    *why = why_not_configurable();
    pool.configuring = pool.configuring || !*why;
    pthread_mutex_unlock(&pool.lock);
    if (*why)
        return MLI_STATUS_ARGUMENT_ERROR;
    /* Called without the lock: this call waits for the end of threads that may hold the lock. */
    status = mli_mov_set_num_dma_ch(0, 0);
    pool.channels = 0;
    if (status == MLI_STATUS_OK && engine)
        status = mli_mov_set_engine(engine);
    if (status == MLI_STATUS_OK)
        status = set_channels(channels > 0 ? channels : default_channels());
    pthread_mutex_lock(&pool.lock);
    pool.configuring = false;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
    return status;
}

uint32_t flight_channels(void)
{
    uint32_t channels = 0;

    pthread_mutex_lock(&pool.lock);
    channels = pool.channels;
    pthread_mutex_unlock(&pool.lock);
    return channels;
}

/* Flights */

/* Queues a flight. Call it with the lock held. */
static void enqueue(struct flight *flight)
{
    if (flight->channels > pool.channels)
        flight->channels = pool.channels;
    if (flight->channels == 0)
        flight->channels = 1;
    if (pool.first)
        pool.last->next = flight;
    else
        pool.first = flight;
    pool.last = flight;
}

mli_status flight_start(struct flight *flight, const char **why)
{
    mli_status status;
    bool here;

    flight->state = FLIGHT_QUEUED;
    flight->cancelled = false;
    flight->of_parent = false;
    flight->status = MLI_STATUS_OK;
    flight->notify = -1;
    flight->next = NULL;
    move_iterator_init(&flight->moves, flight->nest);
    pthread_mutex_lock(&pool.lock);
    while (pool.configuring)
        pthread_cond_wait(&pool.changed, &pool.lock);
    *why = pool.closed ? ENDING : NULL;
    status = pool.closed ? MLI_STATUS_ARGUMENT_ERROR : open_pool();
    here = pool.without_channels;
    if (status == MLI_STATUS_OK && !here)
        enqueue(flight);
    pthread_mutex_unlock(&pool.lock);
    if (status == MLI_STATUS_OK && here) {
        status = nest_run(flight->nest);
        pthread_mutex_lock(&pool.lock);
        complete(flight, status);
        pthread_mutex_unlock(&pool.lock);
        return MLI_STATUS_OK;
    }
    if (status == MLI_STATUS_OK)
        pump();
    return status;
}

/* Returns the time on CLOCK_MONOTONIC after `seconds`, at most a year. */
static struct timespec deadline(double seconds)
{
    const double year = 365.0 * 24 * 3600;
    const double whole = floor(seconds < year ? seconds : year);
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)whole;
    if (seconds < year)
        time.tv_nsec += (long)((seconds - whole) * 1e9);
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

bool flight_wait(struct flight *flight, double seconds)
{
    const struct timespec until = deadline(seconds);
    int error = 0;
    bool done;

    pthread_mutex_lock(&pool.lock);
    while (flight->state != FLIGHT_DONE && error == 0)
        error = pthread_cond_clockwait(&pool.changed, &pool.lock, CLOCK_MONOTONIC, &until);
    done = flight->state == FLIGHT_DONE;
    pthread_mutex_unlock(&pool.lock);
    return done;
}

enum flight_state flight_state(const struct flight *flight, mli_status *status)
{
    enum flight_state state;

    pthread_mutex_lock(&pool.lock);
    state = flight->state;
    *status = flight->status;
    pthread_mutex_unlock(&pool.lock);
    return state;
}

/* Removes a flight from the queue. Call it with the lock held. */
static void dequeue(struct flight *flight)
{
    struct flight **at = &pool.first, *before = NULL;

    while (*at != flight) {
        before = *at;
        at = &before->next;
    }
    *at = flight->next;
    if (pool.last == flight)
        pool.last = before;
}

/* Call it with the lock held. */
static void cancel(struct flight *flight)
{
    if (flight->state == FLIGHT_QUEUED) {
        dequeue(flight);
        complete(flight, MLI_STATUS_CANCELLED);
    } else if (flight->state == FLIGHT_RUNNING) {
        flight->cancelled = true;
    }
}

/*
 * Cancels the transfer of a running flight. Call it without the lock, because the callback may run
 * inside mli_mov_cancel(). If the handle is released meanwhile, its copy is stale and the cancel
 * has no effect.
 */
static void cancel_transfer(struct flight *flight)
{
    mli_mov_handle_t handle;
    bool running;

    pthread_mutex_lock(&pool.lock);
    running = flight->state == FLIGHT_RUNNING;
    if (running)
        handle = flight->handle;
    pthread_mutex_unlock(&pool.lock);
    if (running)
        mli_mov_cancel(&handle);
}

void flight_cancel(struct flight *flight)
{
    pthread_mutex_lock(&pool.lock);
    cancel(flight);
    pthread_mutex_unlock(&pool.lock);
    cancel_transfer(flight);
    pump();
}

void flight_notify(struct flight *flight, int eventfd)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&pool.lock);
    flight->notify = eventfd;
    if (flight->state == FLIGHT_DONE && eventfd >= 0 && write(eventfd, &one, sizeof(one)) < 0) {
        /* complete() explains this */
    }
    pthread_mutex_unlock(&pool.lock);
}

struct flight *flight_take_done(void)
{
    struct flight *flight;

    pthread_mutex_lock(&pool.lock);
    flight = pool.done;
    if (flight)
        pool.done = flight->next;
    pthread_mutex_unlock(&pool.lock);
    return flight;
}

void flight_shutdown(void)
{
    struct flight *flight;

    pthread_mutex_lock(&pool.lock);
    pool.closed = true;
    while ((flight = pool.first)) {
        pool.first = flight->next;
        complete(flight, MLI_STATUS_CANCELLED);
    }
    for (uint32_t i = 0; i < MLI_MOV_MAX_CHANNELS; i++) {
        flight = pool.active[i];
        if (!flight)
            continue;
        flight->cancelled = true;
        pthread_mutex_unlock(&pool.lock);
        cancel_transfer(
            flight); /* stays allocated: only the caller removes flights that are done */
        pthread_mutex_lock(&pool.lock);
    }
    while (pool.count > 0)
        pthread_cond_wait(&pool.changed, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    mli_mov_set_num_dma_ch(0, 0); /* without the lock: the engine's threads may hold it */
    pool.channels = 0;
}
