/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/workers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum { TICK_NS = 100 * CLOCK_NS_PER_MS, NS_PER_S = 1000 * 1000 * 1000 };

/* A case that has ended: a worker passes it to the thread that waits in workers_run(). */
struct ended_case {
    struct ended_case *next;
    struct batch_case *batch_case; /* the case; NULL if there is only a message to print */
    bool refused;                  /* true: the case could not be taken; `message` says why */
    struct fault message;
    struct trial trial;
};

/* The state that all workers and the waiting thread share. */
struct shared {
    const struct workers_plan *plan;
    pthread_mutex_t mutex;            /* protects the members below */
    pthread_cond_t changed;           /* `first` or `alive` has changed */
    struct ended_case *first, **last; /* ended cases that the waiting thread has not taken */
    size_t alive;                     /* number of running workers */
    bool stop;                        /* true: start no further case */
    enum exit_code exit;              /* exit code of the first reason to stop */
    struct fault fault;
};

struct worker {
    struct shared *shared;
    struct daemon_link link;
    pthread_t thread;
};

static void stop_for(struct shared *shared, const struct fault *fault)
{
    if (shared->exit == EXIT_CODE_DONE) {
        shared->exit = exit_code_of(fault);
        shared->fault = *fault;
    }
    shared->stop = true;
}

static void fail(struct shared *shared, const struct fault *fault)
{
    pthread_mutex_lock(&shared->mutex);
    stop_for(shared, fault);
    pthread_mutex_unlock(&shared->mutex);
}

static bool stops(struct shared *shared)
{
    pthread_mutex_lock(&shared->mutex);
    const bool stop = shared->stop || cancel_requested();
    pthread_mutex_unlock(&shared->mutex);
    return stop;
}

/* Waits for the next case of the source, or a message. Returns false if no case is left or the run
 * stops. */
static bool next_case(struct shared *shared, struct ended_case *next)
{
    const struct case_source *source = &shared->plan->source;
    enum source_answer answer = SOURCE_LATER;

    *next = (struct ended_case){.batch_case = NULL};
    while (answer == SOURCE_LATER && !stops(shared))
        answer = source->take(source->context, &next->batch_case, &next->message);
    if (answer == SOURCE_LOST)
        fail(shared, &next->message);
    next->refused = answer == SOURCE_REFUSED;
    return answer == SOURCE_CASE || answer == SOURCE_REFUSED || answer == SOURCE_NOTE;
}

/* Returns the next case, with memory for its result; NULL if no case is left or the run stops. */
static struct ended_case *take(struct shared *shared)
{
    struct ended_case *ended = malloc(sizeof(
        *ended)); /* allocate before taking the case: a case that is taken must get a result */
    struct fault fault;

    if (!ended) {
        fault_no_memory(&fault);
        fail(shared, &fault);
        return NULL;
    }
    if (next_case(shared, ended))
        return ended;
    free(ended);
    return NULL;
}

/* Returns whether the case was run now. (The result of other cases is known from an earlier run.)
 */
static bool runs(const struct ended_case *ended)
{
    return ended->batch_case && !ended->batch_case->known;
}

static void hand_in(struct shared *shared, struct ended_case *ended)
{
    const struct workers_plan *plan = shared->plan;
    const struct trial *trial = &ended->trial;

    pthread_mutex_lock(&shared->mutex);
    if (trial->end == ATTEMPT_LOST)
        stop_for(shared, &trial->fault);
    if (trial->end == ATTEMPT_ENDED || trial->end == ATTEMPT_UNCOUNTED) {
        if (plan->fail_fast && runs(ended) && trial->end == ATTEMPT_ENDED &&
            !case_status_is_good(trial->result.status, plan->flaky_is_good))
            shared->stop = true;
        *shared->last = ended;
        shared->last = &ended->next;
        ended = NULL;
        pthread_cond_signal(&shared->changed);
    }
    pthread_mutex_unlock(&shared->mutex);
    if (ended)
        case_result_finish(&ended->trial.result);
    free(ended);
}

static void run(struct worker *worker, struct ended_case *ended)
{
    const struct workers_plan *plan = worker->shared->plan;
    const struct case_source *source = &plan->source;

    trial_run(&ended->trial, ended->batch_case, &plan->trial, plan->connector, &worker->link);
    if (source->ended)
        source->ended(source->context, ended->batch_case, &ended->trial);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    struct ended_case *ended;

    while ((ended = take(shared))) {
        if (runs(ended))
            run(worker, ended);
        hand_in(shared, ended);
    }
    daemon_link_finish(&worker->link);
    pthread_mutex_lock(&shared->mutex);
    shared->alive--;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
    return NULL;
}

/* Waits until cases have ended, all workers have ended, or the clock reaches `until_ns`. Returns
 * whether a worker is running. */
static bool await(struct shared *shared, uint64_t until_ns, struct ended_case **ended)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};

    pthread_mutex_lock(&shared->mutex);
    int error = 0;
    while (!shared->first && shared->alive > 0 && error == 0)
        error = pthread_cond_timedwait(&shared->changed, &shared->mutex, &until);
    *ended = shared->first;
    shared->first = NULL;
    shared->last = &shared->first;
    bool more = shared->alive > 0;
    pthread_mutex_unlock(&shared->mutex);
    return more;
}

/* Calls the callback of one case. Returns false to start no further case. */
static bool call(const struct workers_callbacks *callbacks, struct ended_case *ended)
{
    void *context = callbacks->context;

    if (runs(ended) && ended->trial.end == ATTEMPT_ENDED)
        return callbacks->ended(context, ended->batch_case, &ended->trial);
    if (runs(ended))
        callbacks->note(context, ended->batch_case, &ended->trial.fault);
    else if (ended->batch_case)
        callbacks->reused(context, ended->batch_case);
    else if (ended->refused)
        callbacks->refused(context, &ended->message);
    else
        callbacks->note(context, NULL, &ended->message);
    return true;
}

static void deliver(struct shared *shared, struct ended_case *ended,
                    const struct workers_callbacks *callbacks)
{
    while (ended) {
        struct ended_case *next = ended->next;

        if (!call(callbacks, ended)) {
            pthread_mutex_lock(&shared->mutex);
            shared->stop = true;
            pthread_mutex_unlock(&shared->mutex);
        }
        case_result_finish(&ended->trial.result);
        free(ended);
        ended = next;
    }
}

static void wait_for_cases(struct shared *shared, const struct workers_callbacks *callbacks)
{
    uint64_t tick_ns = clock_ns() + TICK_NS;
    bool more;

    do {
        struct ended_case *ended;

        more = await(shared, tick_ns, &ended);
        deliver(shared, ended, callbacks);
        if (clock_ns() < tick_ns)
            continue;
        callbacks->tick(callbacks->context);
        tick_ns = clock_ns() + TICK_NS;
    } while (more);
}

/* Starts the workers. The first thread handles the signals. */
static int start_threads(struct shared *shared, struct worker *workers, uint32_t count)
{
    sigset_t old;
    int error = 0;

    cancel_hold(&old);
    for (uint32_t i = 0; i < count && error == 0; i++) {
        workers[i].shared = shared;
        pthread_mutex_lock(&shared->mutex);
        error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        shared->alive += error == 0;
        pthread_mutex_unlock(&shared->mutex);
        if (error)
            workers[i].shared = NULL;
    }
    cancel_admit(&old);
    return error;
}

static void init(struct shared *shared, const struct workers_plan *plan)
{
    pthread_condattr_t monotonic;

    *shared = (struct shared){.plan = plan, .exit = EXIT_CODE_DONE};
    shared->last = &shared->first;
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&shared->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void run_workers(struct shared *shared, struct worker *workers, uint32_t count,
                        const struct workers_callbacks *callbacks)
{
    struct fault fault;
    int error = start_threads(shared, workers, count);

    /* If a thread cannot be created, continue with fewer workers, but stop if there is none. */
    if (error && !workers[0].shared) {
        fault_set(&fault, FAULT_INTERNAL, NULL, "cannot create a thread: %s", strerror(error));
        stop_for(shared, &fault);
    }
    wait_for_cases(shared, callbacks);
    for (uint32_t i = 0; i < count; i++) {
        if (workers[i].shared)
            pthread_join(workers[i].thread, NULL);
    }
}

enum exit_code workers_run(const struct workers_plan *plan, struct daemon_link *first,
                           const struct workers_callbacks *callbacks, struct fault *fault)
{
    struct shared shared;
    struct worker *workers = calloc(plan->workers ? plan->workers : 1, sizeof(*workers));

    init(&shared, plan);
    if (workers) {
        workers[0].link = *first;
        *first = (struct daemon_link){0};
        run_workers(&shared, workers, plan->workers, callbacks);
        daemon_link_finish(&workers[0].link); /* still open if no thread was started */
    } else if (plan->workers > 0) {
        fault_no_memory(&shared.fault);
        shared.exit = EXIT_CODE_FAILED;
    }
    daemon_link_finish(first);
    free(workers);
    pthread_cond_destroy(&shared.changed);
    pthread_mutex_destroy(&shared.mutex);
    *fault = shared.fault;
    return cancel_requested() ? EXIT_CODE_STOPPED : shared.exit;
}
