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
    struct fault dead;     /* why no connection is tried any more; code 0: none */
    struct queue_lease *leases;
    pthread_cond_t ends; /* `closing` is set */
    pthread_t renewer;
    bool renews, closing;
};

static void drop_connection(struct queue *queue)
{
    redis_close(queue->redis);
    queue->redis = NULL;
}

/* Sleeps until a signal ends the program. Returns false after a signal. */
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

/* Gives up: every later call fails at once. */
static int give_up(struct queue *queue, struct fault *fault)
{
    struct fault last = *fault;

    fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: no connection for %u s: %s", queue->url.shown,
              queue->patience_ms / MS_PER_S, last.text);
    queue->dead = *fault;
    return -1;
}

/* Names the queue in a fault that a new connection does not mend. */
static int name_fault(const struct queue *queue, struct fault *fault)
{
    struct fault last = *fault;

    return fault_set(fault, last.code, NULL, "%s: %s", queue->url.shown, last.text);
}

/* A call of the server, with its arguments. */
struct call {
    int (*run)(const struct call *call, struct queue *queue, struct fault *fault);
    const struct queue_case *cases;
    size_t count;
    uint32_t lease_ms;
    struct queue_lease *lease;
    const char *result;
    enum queue_grade grade;
    enum queue_return how;
    bool again;
    void *out;
};

static int try(struct queue *queue, const struct call *call, struct fault *fault)
{
    if (!queue->redis)
        queue->redis = redis_open(&queue->url, queue->worker, fault);
    if (!queue->redis)
        return -1;
    if (!call || call->run(call, queue, fault) == 0)
        return 0;
    if (is_lost(fault))
        drop_connection(queue);
    return -1;
}

/* Runs a call, on a new connection if the old one is lost. `call` may be NULL: connects only. The
 * caller holds the mutex. */
static int run(struct queue *queue, const struct call *call, struct fault *fault)
{
    const uint64_t begin = clock_ns();
    int pause = BACKOFF_MIN_MS;
    bool said = call != NULL; /* Only the call that connects first is made by the main thread. */

    if (queue->dead.code) {
        *fault = queue->dead;
        return -1;
    }
    while (try(queue, call, fault)) {
        if (!is_lost(fault))
            return name_fault(queue, fault);
        if (clock_ns() - begin + (uint64_t)pause * CLOCK_NS_PER_MS >
            (uint64_t)queue->patience_ms * CLOCK_NS_PER_MS)
            return give_up(queue, fault);
        if (!said)
            print_error("%s: %s; trying again for %u s", queue->url.shown, fault->text,
                        queue->patience_ms / MS_PER_S);
        said = true;
        if (!pause_ms(pause))
            return cancel_fault(fault);
        pause = pause < BACKOFF_MAX_MS / 2 ? 2 * pause : BACKOFF_MAX_MS;
    }
    return 0;
}

static int call_locked(struct queue *queue, const struct call *call, struct fault *fault)
{
    pthread_mutex_lock(&queue->mutex);
    const int status = run(queue, call, fault);
    pthread_mutex_unlock(&queue->mutex);
    return status;
}

/* Leases. */

static int call_renew(const struct call *call, struct queue *queue, struct fault *fault)
{
    return redis_renew(queue->redis, call->lease, fault);
}

static void renew_due(struct queue *queue)
{
    const uint64_t now = clock_ns();
    struct fault ignored; /* The worker sees a lost connection when it hands in its result. */

    for (struct queue_lease *lease = queue->leases; lease; lease = lease->next) {
        const struct call call = {.run = call_renew, .lease = lease};

        if (now < lease->renew_ns)
            continue;
        if (run(queue, &call, &ignored))
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

static int call_take(const struct call *call, struct queue *queue, struct fault *fault)
{
    enum queue_answer *answer = call->out;

    *answer = redis_take(queue->redis, call->lease, fault);
    return *answer == QUEUE_LOST ? -1 : 0;
}

enum queue_answer queue_take(struct queue *queue, struct queue_lease *lease, struct fault *fault)
{
    enum queue_answer answer = QUEUE_LOST;
    const struct call call = {.run = call_take, .lease = lease, .out = &answer};

    *lease = (struct queue_lease){0};
    pthread_mutex_lock(&queue->mutex);
    if ((!queue->renews && start_renewer(queue, fault)) || run(queue, &call, fault))
        answer = QUEUE_LOST;
    if (answer == QUEUE_CASE) {
        lease->renew_ns = clock_ns() + (uint64_t)lease->lease_ms * CLOCK_NS_PER_MS / 3;
        lease->next = queue->leases;
        queue->leases = lease;
    }
    pthread_mutex_unlock(&queue->mutex);
    return answer;
}

static int call_finish(const struct call *call, struct queue *queue, struct fault *fault)
{
    return redis_finish(queue->redis, call->lease, call->result, call->grade, call->out, fault);
}

static int call_give_back(const struct call *call, struct queue *queue, struct fault *fault)
{
    return redis_give_back(queue->redis, call->lease, call->how, fault);
}

/* Ends a lease: it is no longer renewed, also if the call fails. */
static int end_lease(struct queue *queue, const struct call *call, struct fault *fault)
{
    pthread_mutex_lock(&queue->mutex);
    const int status = run(queue, call, fault);
    forget(queue, call->lease);
    pthread_mutex_unlock(&queue->mutex);
    return status;
}

int queue_finish(struct queue *queue, struct queue_lease *lease, const char *result,
                 enum queue_grade grade, enum queue_outcome *outcome, struct fault *fault)
{
    const struct call call = {
        .run = call_finish, .lease = lease, .result = result, .grade = grade, .out = outcome};

    return end_lease(queue, &call, fault);
}

int queue_give_back(struct queue *queue, struct queue_lease *lease, enum queue_return how,
                    struct fault *fault)
{
    const struct call call = {.run = call_give_back, .lease = lease, .how = how};

    return end_lease(queue, &call, fault);
}

/* The other calls. */

static int call_add(const struct call *call, struct queue *queue, struct fault *fault)
{
    return redis_add(queue->redis, call->cases, call->count, call->lease_ms, call->again, call->out,
                     fault);
}

int queue_add(struct queue *queue, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault)
{
    const struct call call = {.run = call_add,
                              .cases = cases,
                              .count = count,
                              .lease_ms = lease_ms,
                              .again = again,
                              .out = added};

    return call_locked(queue, &call, fault);
}

static int call_count(const struct call *call, struct queue *queue, struct fault *fault)
{
    return redis_count(queue->redis, call->out, fault);
}

int queue_count(struct queue *queue, struct queue_counts *counts, struct fault *fault)
{
    const struct call call = {.run = call_count, .out = counts};

    return call_locked(queue, &call, fault);
}

static int call_status(const struct call *call, struct queue *queue, struct fault *fault)
{
    queue_status_finish(call->out);
    return redis_status(queue->redis, call->out, fault);
}

int queue_status(struct queue *queue, struct queue_status *status, struct fault *fault)
{
    const struct call call = {.run = call_status, .out = status};

    *status = (struct queue_status){0};
    return call_locked(queue, &call, fault);
}

static int call_read(const struct call *call, struct queue *queue, struct fault *fault)
{
    queue_entries_finish(call->out);
    return redis_read(queue->redis, call->out, fault);
}

int queue_read(struct queue *queue, struct queue_entries *entries, struct fault *fault)
{
    const struct call call = {.run = call_read, .out = entries};

    *entries = (struct queue_entries){0};
    return call_locked(queue, &call, fault);
}

static int call_remove(const struct call *call, struct queue *queue, struct fault *fault)
{
    (void)call;
    return redis_remove(queue->redis, fault);
}

int queue_remove(struct queue *queue, struct fault *fault)
{
    const struct call call = {.run = call_remove};

    return call_locked(queue, &call, fault);
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
    if (call_locked(queue, NULL, fault)) {
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
