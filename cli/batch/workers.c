/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/batch/connector.h"
#include "cli/batch/kept.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum { TICK_NS = 100 * CLOCK_NS_PER_MS, NS_PER_S = 1000 * 1000 * 1000 };

/* A case that has ended: a worker passes it to the thread that waits in workers_run(). */
struct ended_case {
    struct ended_case *next;
    size_t index;
    struct trial trial;
};

/* The state that all workers and the waiting thread share. */
struct shared {
    const struct workers_plan *plan;
    pthread_mutex_t mutex;            /* protects the members below */
    pthread_cond_t changed;           /* `first` or `alive` has changed */
    struct ended_case *first, **last; /* ended cases that the waiting thread has not taken */
    size_t next;                      /* index of the next case to begin */
    size_t alive;                     /* number of running workers */
    bool stop;                        /* begin no further case */
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

/* Returns the next case, with room for its result; NULL if no case is left or the run stops. */
static struct ended_case *take(struct shared *shared)
{
    struct fault fault;
    struct ended_case *ended = malloc(sizeof(*ended));

    pthread_mutex_lock(&shared->mutex);
    if (!ended) {
        fault_set(&fault, FAULT_INTERNAL, NULL, "out of memory");
        stop_for(shared, &fault);
    }
    if (shared->stop || shared->next == shared->plan->count || cancel_requested()) {
        free(ended);
        ended = NULL;
    } else {
        ended->next = NULL;
        ended->index = shared->next++;
    }
    pthread_mutex_unlock(&shared->mutex);
    return ended;
}

static void hand_in(struct shared *shared, struct ended_case *ended)
{
    const struct workers_plan *plan = shared->plan;
    const struct trial *trial = &ended->trial;

    pthread_mutex_lock(&shared->mutex);
    if (trial->end == ATTEMPT_LOST)
        stop_for(shared, &trial->fault);
    if (trial->end == ATTEMPT_ENDED) {
        if (plan->fail_fast && !case_status_is_good(trial->result.status, plan->flaky_is_good))
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

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    const struct workers_plan *plan = shared->plan;
    struct ended_case *ended;

    while ((ended = take(shared))) {
        trial_run(&ended->trial, plan->cases[ended->index], &plan->trial, plan->connector,
                  &worker->link);
        hand_in(shared, ended);
    }
    daemon_link_finish(&worker->link);
    pthread_mutex_lock(&shared->mutex);
    shared->alive--;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
    return NULL;
}

/* Waits until cases have ended, no worker is left, or `until_ns`. Returns whether any is left. */
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

static void deliver(struct shared *shared, struct ended_case *ended,
                    const struct workers_callbacks *callbacks)
{
    while (ended) {
        struct ended_case *next = ended->next;

        if (!callbacks->ended(callbacks->context, ended->index, &ended->trial)) {
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

    /* Fewer workers are enough, but one is needed. */
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
    uint32_t count = plan->count < plan->workers ? (uint32_t)plan->count : plan->workers;
    struct worker *workers = calloc(count ? count : 1, sizeof(*workers));

    init(&shared, plan);
    if (workers) {
        workers[0].link = *first;
        *first = (struct daemon_link){0};
        run_workers(&shared, workers, count, callbacks);
        daemon_link_finish(&workers[0].link); /* if its thread did not start */
    } else {
        fault_set(&shared.fault, FAULT_INTERNAL, NULL, "out of memory");
        shared.exit = EXIT_CODE_FAILED;
    }
    daemon_link_finish(first);
    free(workers);
    pthread_cond_destroy(&shared.changed);
    pthread_mutex_destroy(&shared.mutex);
    *fault = shared.fault;
    return cancel_requested() ? EXIT_CODE_STOPPED : shared.exit;
}

/* The results of the attempts of a trial. */
struct tally {
    uint32_t passed, attempts;
    uint64_t ns, bytes;                  /* time and moved bytes of the last attempt */
    uint64_t predicted_ns, transfers_ns; /* as in struct case_result, of the last attempt */
    struct fingerprint fingerprint;      /* fingerprint of the last attempt */
    bool failed;
    struct attempt failure; /* the first failed attempt */
};

/* Connects the link if necessary. Returns 0, or -1 with trial->end set. */
static int connect(struct trial *trial, const struct connector *connector, struct daemon_link *link)
{
    if (daemon_link_connected(link))
        return 0;
    daemon_link_finish(link);
    if (connector_open(connector, link, &trial->fault) == 0)
        return 0;
    trial->end = cancel_requested() ? ATTEMPT_INTERRUPTED : ATTEMPT_LOST;
    return -1;
}

/* Adds an attempt to the tally, which owns its members. Returns whether another one follows. */
static bool count(struct tally *tally, const struct trial_plan *plan, struct attempt *attempt)
{
    uint32_t failures = ++tally->attempts - tally->passed;

    tally->ns = attempt->result.ns;
    tally->bytes = attempt->result.bytes;
    tally->predicted_ns = attempt->result.predicted_ns;
    tally->transfers_ns = attempt->result.transfers_ns;
    fingerprint_finish(&tally->fingerprint);
    tally->fingerprint = attempt->result.fingerprint;
    attempt->result.fingerprint = (struct fingerprint){0}; /* The tally owns the fingerprint now. */
    if (attempt_passed(attempt)) {
        attempt_finish(attempt);
        return ++tally->passed < plan->repeat;
    }
    if (tally->failed) {
        attempt_finish(attempt);
    } else {
        tally->failed = true;
        tally->failure = *attempt;
    }
    return failures <= plan->retries;
}

static void attempt_all(struct trial *trial, struct tally *tally,
                        const struct batch_case *batch_case, const struct trial_plan *plan,
                        const struct connector *connector, struct daemon_link *link)
{
    struct attempt attempt;

    do {
        if (connect(trial, connector, link))
            return;
        if (plan->repeat_now)
            atomic_store_explicit(plan->repeat_now, tally->passed + 1, memory_order_relaxed);
        attempt_run(&attempt, batch_case, link, &plan->attempt);
        trial->end = attempt.end;
        if (attempt.end != ATTEMPT_ENDED) {
            trial->fault = attempt.lost;
            attempt_finish(&attempt);
            return;
        }
    } while (count(tally, plan, &attempt));
}

/* Adds the path of the kept result to the message. */
static void add_given(struct case_result *result, const char *given)
{
    char *message = NULL;

    if (!result->message || asprintf(&message, "%s" RESULT_GIVEN "%s", result->message, given) < 0)
        return;
    free(result->message);
    result->message = message;
}

static void keep(struct trial *trial, const struct batch_case *batch_case,
                 const struct trial_plan *plan, const struct attempt *failure)
{
    enum case_status status = trial->result.status;

    if (!plan->keeping.directory || !failure->evidence.job ||
        (status != CASE_FAILED && status != CASE_ERROR))
        return;
    struct kept kept;
    trial->complains =
        kept_save(&plan->keeping, batch_case->name, &failure->evidence, &kept, &trial->fault) != 0;
    trial->result.kept = kept.job;
    if (kept.job)
        trial->result.rerun_command = connector_rerun_command(plan->options, kept.job);
    if (kept.given && trial->result.reason == CASE_WHY_MISMATCH)
        add_given(&trial->result, kept.given);
    free(kept.given);
    /* Give no result: the continued run must report what an uninterrupted run would. */
    if (trial->complains && cancel_requested())
        trial->end = ATTEMPT_INTERRUPTED;
}

static void conclude(struct trial *trial, struct tally *tally, const struct batch_case *batch_case,
                     const struct trial_plan *plan)
{
    struct case_result *result = &trial->result;

    result->name = strdup(batch_case->name);
    result->file = strdup(batch_case->file);
    if (!result->name || !result->file) {
        trial->end = ATTEMPT_LOST;
        fault_set(&trial->fault, FAULT_INTERNAL, NULL, "out of memory");
        return;
    }
    result->status = CASE_PASSED;
    result->attempts = tally->attempts;
    result->ns = tally->ns;
    result->bytes = tally->bytes;
    result->predicted_ns = tally->predicted_ns;
    result->transfers_ns = tally->transfers_ns;
    result->fingerprint = tally->fingerprint;
    result->fingerprint.setup = plan->setup;
    tally->fingerprint = (struct fingerprint){0};
    if (batch_case->rerun_reason)
        result->rerun_reason = strdup(batch_case->rerun_reason);
    if (!tally->failed)
        return;
    struct case_result *failure = &tally->failure.result;
    result->status = tally->passed == plan->repeat ? CASE_FLAKY : failure->status;
    result->reason = failure->reason;
    result->message = failure->message;
    result->pointer = failure->pointer;
    result->difference = failure->difference;
    *failure = (struct case_result){0}; /* The tally owns the strings of the result now. */
    keep(trial, batch_case, plan, &tally->failure);
}

void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct daemon_link *link)
{
    struct tally tally = {0};

    *trial = (struct trial){.end = ATTEMPT_ENDED};
    attempt_all(trial, &tally, batch_case, plan, connector, link);
    if (trial->end == ATTEMPT_ENDED)
        conclude(trial, &tally, batch_case, plan);
    if (tally.failed)
        attempt_finish(&tally.failure);
    fingerprint_finish(&tally.fingerprint);
}
