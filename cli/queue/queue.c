/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/queue.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"

enum { BACKOFF_MIN_MS = 100, BACKOFF_MAX_MS = 2000, RENEW_TICK_MS = 200, MS_PER_S = 1000 };

struct queue {
    struct queue_url url;
    uint32_t patience_ms;
    char worker[QUEUE_WORKER_MAX];
    pthread_mutex_t mutex; /* protects the members below */
    struct redis *redis;   /* the connection; NULL: none */
    struct fault dead;     /* why the queue no longer tries to connect; code 0: it still tries */
    struct queue_lease *leases;
    pthread_cond_t ends; /* signalled when `closing` is set */
    pthread_t renewer;
    bool renews, closing;
};

static void drop_connection(struct queue *queue)
{
    redis_close(queue->redis);
    queue->redis = NULL;
}

/* Sleeps before the next attempt. Returns false after a signal. */
static bool pause_ms(int ms)
{
    struct pollfd wait = {.fd = cancel_fd(), .events = POLLIN};

    poll(&wait, 1, ms);
    return !cancel_requested();
}

static bool is_lost(const struct fault *fault)
{
    return fault->code == FAULT_STREAM_ERROR;
}

/* Closes the connection for good: every later call fails at once. */
static void give_up(struct queue *queue, struct fault *fault)
{
    struct fault last = *fault;

    fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s could not be reached for %u s: %s",
              queue->url.shown, queue->patience_ms / MS_PER_S, last.text);
    queue->dead = *fault;
}

/* Adds the URL of the queue to a fault, unless a new connection can help. */
static void name_fault(const struct queue *queue, struct fault *fault)
{
    struct fault last = *fault;

    fault_set(fault, last.code, NULL, "%s: %s", queue->url.shown, last.text);
}

/*
 * The attempts at a call, on a new connection if the old connection is lost:
 *
 *     struct tries tries = begin(queue);
 *     while (try_again(queue, &tries, fault))
 *         tries.status = redis_...(queue->redis, ..., fault);
 *     return end(queue, &tries);
 */
struct tries {
    uint64_t begin_ns;
    int pause_ms;
    bool silent; /* true: no message: a worker calls, or the user has seen one */
    int status;  /* result of the last call; UNTRIED before the first call */
};

enum { UNTRIED = 1 };

static struct tries begin_locked(void)
{
    return (struct tries){
        .begin_ns = clock_ns(), .pause_ms = BACKOFF_MIN_MS, .silent = true, .status = UNTRIED};
}

static struct tries begin(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    return begin_locked();
}

static int end(struct queue *queue, const struct tries *tries)
{
    pthread_mutex_unlock(&queue->mutex);
    return tries->status;
}

/* Waits after a failure. Returns false if no further attempt is due, with the fault to report. */
static bool back_off(struct queue *queue, struct tries *tries, struct fault *fault)
{
    const uint64_t wait_ns =
        clock_ns() - tries->begin_ns + (uint64_t)tries->pause_ms * CLOCK_NS_PER_MS;

    tries->status = -1;
    if (!is_lost(fault)) {
        name_fault(queue, fault);
        return false;
    }
    drop_connection(queue);
    if (wait_ns > (uint64_t)queue->patience_ms * CLOCK_NS_PER_MS) {
        give_up(queue, fault);
        return false;
    }
    if (!tries->silent)
        print_error("%s: %s; trying again for %u s", queue->url.shown, fault->text,
                    queue->patience_ms / MS_PER_S);
    tries->silent = true;
    if (!pause_ms(tries->pause_ms)) {
        cancel_fault(fault);
        return false;
    }
    tries->pause_ms = tries->pause_ms < BACKOFF_MAX_MS / 2 ? 2 * tries->pause_ms : BACKOFF_MAX_MS;
    return true;
}

/* Returns whether to call the server, which is then connected. The caller holds the mutex. */
static bool try_again(struct queue *queue, struct tries *tries, struct fault *fault)
{
    if (queue->dead.code) {
        *fault = queue->dead;
        tries->status = -1;
        return false;
    }
    if (tries->status == 0 || (tries->status < 0 && !back_off(queue, tries, fault)))
        return false;
    while (!queue->redis) {
        queue->redis = redis_open(&queue->url, queue->worker, fault);
        if (!queue->redis && !back_off(queue, tries, fault))
            return false;
    }
    return true;
}

/* Leases. */

static void renew_due(struct queue *queue)
{
    const uint64_t now = clock_ns();
    struct fault ignored; /* a worker notices a lost connection when it hands in its result */

    for (struct queue_lease *lease = queue->leases; lease; lease = lease->next) {
        struct tries tries = begin_locked();

        if (now < lease->renew_ns)
            continue;
        while (try_again(queue, &tries, &ignored))
            tries.status = redis_renew(queue->redis, lease, &ignored);
        if (tries.status)
            return;
        lease->renew_ns = clock_ns() + (uint64_t)lease->lease_ms * CLOCK_NS_PER_MS / 3;
    }
}

static void *renew_leases(void *argument)
{
    struct queue *queue = argument;

    pthread_mutex_lock(&queue->mutex);
    while (!queue->closing) {
        struct timespec until;
        const uint64_t ns = clock_ns() + (uint64_t)RENEW_TICK_MS * CLOCK_NS_PER_MS;

        until = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                                  .tv_nsec = (long)(ns % 1000000000)};
        pthread_cond_timedwait(&queue->ends, &queue->mutex, &until);
        if (!queue->closing && !cancel_requested())
            renew_due(queue);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

static int start_renewer(struct queue *queue, struct fault *fault)
{
    sigset_t old;

    cancel_hold(&old);
    const int error = pthread_create(&queue->renewer, NULL, renew_leases, queue);
    cancel_admit(&old);
    queue->renews = error == 0;
    return error ? fault_set(fault, FAULT_INTERNAL, NULL, "cannot create a thread: %s",
                             strerror(error))
                 : 0;
}

static void forget(struct queue *queue, const struct queue_lease *lease)
{
    for (struct queue_lease **at = &queue->leases; *at; at = &(*at)->next) {
        if (*at == lease) {
            *at = lease->next;
            return;
        }
    }
}

enum queue_answer queue_take(struct queue *queue, struct queue_lease *lease, struct fault *fault)
{
    enum queue_answer answer = QUEUE_LOST;
    struct tries tries = begin(queue);

    *lease = (struct queue_lease){0};
    if (!queue->renews && start_renewer(queue, fault))
        tries.status = -1;
    else {
        while (try_again(queue, &tries, fault)) {
            answer = redis_take(queue->redis, lease, fault);
            tries.status = answer == QUEUE_LOST ? -1 : 0;
        }
    }
    if (tries.status == 0 && answer == QUEUE_CASE) {
        lease->renew_ns = clock_ns() + (uint64_t)lease->lease_ms * CLOCK_NS_PER_MS / 3;
        lease->next = queue->leases;
        queue->leases = lease;
    }
    return end(queue, &tries) ? QUEUE_LOST : answer;
}

/* Stops to renew the lease first, so that it is not renewed even if this call fails. */
int queue_finish(struct queue *queue, struct queue_lease *lease, const char *result,
                 enum queue_grade grade, enum queue_outcome *outcome, struct fault *fault)
{
    struct tries tries = begin(queue);

    while (try_again(queue, &tries, fault))
        tries.status = redis_finish(queue->redis, lease, result, grade, outcome, fault);
    forget(queue, lease);
    return end(queue, &tries);
}

int queue_give_back(struct queue *queue, struct queue_lease *lease, enum queue_return how,
                    struct fault *fault)
{
    struct tries tries = begin(queue);

    while (try_again(queue, &tries, fault))
        tries.status = redis_give_back(queue->redis, lease, how, fault);
    forget(queue, lease);
    return end(queue, &tries);
}

/* The remaining calls. */

int queue_add(struct queue *queue, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault)
{
    struct tries tries = begin(queue);

    while (try_again(queue, &tries, fault))
        tries.status = redis_add(queue->redis, cases, count, lease_ms, again, added, fault);
    return end(queue, &tries);
}

int queue_count(struct queue *queue, struct queue_counts *counts, struct fault *fault)
{
    struct tries tries = begin(queue);

    while (try_again(queue, &tries, fault))
        tries.status = redis_count(queue->redis, counts, fault);
    return end(queue, &tries);
}

int queue_status(struct queue *queue, struct queue_status *status, struct fault *fault)
{
    struct tries tries = begin(queue);

    *status = (struct queue_status){0};
    while (try_again(queue, &tries, fault)) {
        queue_status_finish(status);
        tries.status = redis_status(queue->redis, status, fault);
    }
    return end(queue, &tries);
}

int queue_read(struct queue *queue, struct queue_entries *entries, struct fault *fault)
{
    struct tries tries = begin(queue);

    *entries = (struct queue_entries){0};
    while (try_again(queue, &tries, fault)) {
        queue_entries_finish(entries);
        tries.status = redis_read(queue->redis, entries, fault);
    }
    return end(queue, &tries);
}

int queue_remove(struct queue *queue, struct fault *fault)
{
    struct tries tries = begin(queue);

    while (try_again(queue, &tries, fault))
        tries.status = redis_remove(queue->redis, fault);
    return end(queue, &tries);
}

/* Opening and closing. */

static void name_worker(struct queue *queue)
{
    char host[65] = "localhost";

    if (gethostname(host, sizeof(host) - 1))
        snprintf(host, sizeof(host), "localhost");
    snprintf(queue->worker, sizeof(queue->worker), "%s:%ld", host, (long)getpid());
}

static void init(struct queue *queue, const struct queue_url *url, uint32_t patience_ms)
{
    pthread_condattr_t monotonic;

    *queue = (struct queue){.url = *url, .patience_ms = patience_ms};
    name_worker(queue);
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->ends, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int queue_open(const struct queue_url *url, uint32_t patience_ms, struct queue **out,
               struct fault *fault)
{
    struct queue *queue = malloc(sizeof(*queue));

    *out = NULL;
    if (!queue)
        return fault_no_memory(fault);
    init(queue, url, patience_ms);
    struct tries tries = begin(queue);
    tries.silent = false; /* this is the main thread, which may print messages */
    while (try_again(queue, &tries, fault))
        tries.status = 0;
    if (end(queue, &tries)) {
        queue_close(queue);
        return -1;
    }
    *out = queue;
    return 0;
}

void queue_close(struct queue *queue)
{
    if (!queue)
        return;
    pthread_mutex_lock(&queue->mutex);
    queue->closing = true;
    pthread_cond_signal(&queue->ends);
    pthread_mutex_unlock(&queue->mutex);
    if (queue->renews)
        pthread_join(queue->renewer, NULL);
    drop_connection(queue);
    pthread_cond_destroy(&queue->ends);
    pthread_mutex_destroy(&queue->mutex);
    explicit_bzero(&queue->url, sizeof(queue->url));
    free(queue);
}
