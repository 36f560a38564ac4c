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

/* A case that has ended, on its way to the thread that waits. */
struct report {
    struct report *next;
    size_t index;
    struct trial trial;
};

struct runner {
    const struct runner_plan *plan;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t told;
    struct report *first, **last;
    size_t next;         /* case to begin */
    size_t alive;        /* workers */
    bool stop;           /* no further case begins */
    enum exit_code exit; /* why not; the first reason */
    struct fault fault;
};

struct worker {
    struct runner *runner;
    struct client client;
    pthread_t thread;
};

static void stop_for(struct runner *runner, const struct fault *fault)
{
    if (runner->exit == EXIT_CODE_DONE) {
        runner->exit = exit_code_of(fault);
        runner->fault = *fault;
    }
    runner->stop = true;
}

/* The next case, with room for what will be told of it; null: there is none. */
static struct report *take(struct runner *runner)
{
    struct fault fault;
    struct report *report = malloc(sizeof(*report));
    pthread_mutex_lock(&runner->mutex);
    if (!report) {
        fault_set(&fault, FAULT_INTERNAL, NULL, "out of memory");
        stop_for(runner, &fault);
    }
    if (runner->stop || runner->next == runner->plan->count || cancel_requested()) {
        free(report);
        report = NULL;
    } else {
        report->next = NULL;
        report->index = runner->next++;
    }
    pthread_mutex_unlock(&runner->mutex);
    return report;
}

static void hand_in(struct runner *runner, struct report *report)
{
    const struct runner_plan *plan = runner->plan;
    const struct trial *trial = &report->trial;
    pthread_mutex_lock(&runner->mutex);
    if (trial->end == ATTEMPT_LOST)
        stop_for(runner, &trial->fault);
    if (trial->end == ATTEMPT_ENDED) {
        if (plan->fail_fast && !case_status_is_good(trial->result.status, plan->flaky_is_good))
            runner->stop = true;
        *runner->last = report;
        runner->last = &report->next;
        report = NULL;
        pthread_cond_signal(&runner->told);
    }
    pthread_mutex_unlock(&runner->mutex);
    if (report)
        case_result_finish(&report->trial.result);
    free(report);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct runner *runner = worker->runner;
    const struct runner_plan *plan = runner->plan;
    struct report *report;
    while ((report = take(runner))) {
        trial_run(&report->trial, plan->cases[report->index], &plan->trial, plan->connector,
                  &worker->client);
        hand_in(runner, report);
    }
    client_finish(&worker->client);
    pthread_mutex_lock(&runner->mutex);
    runner->alive--;
    pthread_cond_signal(&runner->told);
    pthread_mutex_unlock(&runner->mutex);
    return NULL;
}

/* Until there is something to tell, no worker is left, or it is time for a tick. Returns whether
 * there will be more. */
static bool await(struct runner *runner, uint64_t until_ns, struct report **reports)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S),
                                   .tv_nsec = (long)(until_ns % NS_PER_S)};
    pthread_mutex_lock(&runner->mutex);
    int error = 0;
    while (!runner->first && runner->alive > 0 && error == 0)
        error = pthread_cond_timedwait(&runner->told, &runner->mutex, &until);
    *reports = runner->first;
    runner->first = NULL;
    runner->last = &runner->first;
    bool more = runner->alive > 0;
    pthread_mutex_unlock(&runner->mutex);
    return more;
}

static void tell(struct runner *runner, struct report *report, const struct runner_ears *ears)
{
    while (report) {
        struct report *next = report->next;
        if (!ears->ended(ears->context, report->index, &report->trial)) {
            pthread_mutex_lock(&runner->mutex);
            runner->stop = true;
            pthread_mutex_unlock(&runner->mutex);
        }
        case_result_finish(&report->trial.result);
        free(report);
        report = next;
    }
}

static void listen(struct runner *runner, const struct runner_ears *ears)
{
    uint64_t tick_ns = clock_ns() + TICK_NS;
    bool more;
    do {
        struct report *reports;
        more = await(runner, tick_ns, &reports);
        tell(runner, reports, ears);
        if (clock_ns() < tick_ns)
            continue;
        ears->tick(ears->context);
        tick_ns = clock_ns() + TICK_NS;
    } while (more);
}

/* Signals are the first thread's, but for those that a fault sends. */
static int start_threads(struct runner *runner, struct worker *workers, uint32_t count)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t held, old;
    int error = 0;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_SETMASK, &held, &old);
    for (uint32_t i = 0; i < count && error == 0; i++) {
        workers[i].runner = runner;
        pthread_mutex_lock(&runner->mutex);
        error = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        runner->alive += error == 0;
        pthread_mutex_unlock(&runner->mutex);
        if (error)
            workers[i].runner = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

static void init(struct runner *runner, const struct runner_plan *plan)
{
    pthread_condattr_t monotonic;
    *runner = (struct runner){.plan = plan, .exit = EXIT_CODE_DONE};
    runner->last = &runner->first;
    pthread_mutex_init(&runner->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&runner->told, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void run_workers(struct runner *runner, struct worker *workers, uint32_t count,
                        const struct runner_ears *ears)
{
    struct fault fault;
    int error = start_threads(runner, workers, count);
    /* Fewer workers do as well, but none do not. */
    if (error && !workers[0].runner) {
        fault_set(&fault, FAULT_INTERNAL, NULL, "no thread: %s", strerror(error));
        stop_for(runner, &fault);
    }
    listen(runner, ears);
    for (uint32_t i = 0; i < count; i++) {
        if (workers[i].runner)
            pthread_join(workers[i].thread, NULL);
    }
}

enum exit_code runner_run(const struct runner_plan *plan, struct client *first,
                          const struct runner_ears *ears, struct fault *fault)
{
    struct runner runner;
    uint32_t count = plan->count < plan->workers ? (uint32_t)plan->count : plan->workers;
    struct worker *workers = calloc(count ? count : 1, sizeof(*workers));
    init(&runner, plan);
    if (workers) {
        workers[0].client = *first;
        *first = (struct client){0};
        run_workers(&runner, workers, count, ears);
        client_finish(&workers[0].client); /* where its thread was none */
    } else {
        fault_set(&runner.fault, FAULT_INTERNAL, NULL, "out of memory");
        runner.exit = EXIT_CODE_FAILED;
    }
    client_finish(first);
    free(workers);
    pthread_cond_destroy(&runner.told);
    pthread_mutex_destroy(&runner.mutex);
    *fault = runner.fault;
    return cancel_requested() ? EXIT_CODE_STOPPED : runner.exit;
}

/* What the attempts have come to. */
struct tally {
    uint32_t passed, attempts;
    uint64_t ns, bytes, fingerprint; /* of the last one */
    struct basis basis;              /* of the last one */
    bool failed;
    struct attempt failure; /* the first */
};

/* Returns 0, or -1 with the trial ended. */
static int connect(struct trial *trial, const struct connector *connector, struct client *client)
{
    if (client_connected(client))
        return 0;
    client_finish(client);
    if (connector_open(connector, client, &trial->fault) == 0)
        return 0;
    trial->end = cancel_requested() ? ATTEMPT_INTERRUPTED : ATTEMPT_LOST;
    return -1;
}

/* Takes the attempt; whether another one is to follow. */
static bool count(struct tally *tally, const struct trial_plan *plan, struct attempt *attempt)
{
    uint32_t failures = ++tally->attempts - tally->passed;
    tally->ns = attempt->result.ns;
    tally->bytes = attempt->result.bytes;
    tally->fingerprint = attempt->result.fingerprint;
    basis_finish(&tally->basis);
    tally->basis = attempt->result.basis;
    attempt->result.basis = (struct basis){0}; /* has moved */
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
                        const struct connector *connector, struct client *client)
{
    struct attempt attempt;
    do {
        if (connect(trial, connector, client))
            return;
        if (plan->repeat_now)
            atomic_store_explicit(plan->repeat_now, tally->passed + 1, memory_order_relaxed);
        attempt_run(&attempt, batch_case, client, &plan->attempt);
        trial->end = attempt.end;
        if (attempt.end != ATTEMPT_ENDED) {
            trial->fault = attempt.lost;
            attempt_finish(&attempt);
            return;
        }
    } while (count(tally, plan, &attempt));
}

static void tell_given(struct case_result *result, const char *given)
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
        keep_case(&plan->keeping, batch_case->name, &failure->evidence, &kept, &trial->fault) != 0;
    trial->result.kept = kept.job;
    if (kept.job)
        trial->result.again = again_command(plan->options, kept.job);
    if (kept.given && trial->result.reason == CASE_WHY_MISMATCH)
        tell_given(&trial->result, kept.given);
    free(kept.given);
    /* The run that goes on is to tell the same as one that was never interrupted. */
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
    result->fingerprint = tally->fingerprint;
    result->basis = tally->basis;
    result->basis.setup = plan->setup;
    tally->basis = (struct basis){0};
    if (batch_case->rerun)
        result->rerun = strdup(batch_case->rerun);
    if (!tally->failed)
        return;
    struct case_result *failure = &tally->failure.result;
    result->status = tally->passed == plan->repeat ? CASE_FLAKY : failure->status;
    result->reason = failure->reason;
    result->message = failure->message;
    result->pointer = failure->pointer;
    result->difference = failure->difference;
    *failure = (struct case_result){0}; /* its texts have moved */
    keep(trial, batch_case, plan, &tally->failure);
}

void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct client *client)
{
    struct tally tally = {0};
    *trial = (struct trial){.end = ATTEMPT_ENDED};
    attempt_all(trial, &tally, batch_case, plan, connector, client);
    if (trial->end == ATTEMPT_ENDED)
        conclude(trial, &tally, batch_case, plan);
    if (tally.failed)
        attempt_finish(&tally.failure);
    basis_finish(&tally.basis);
}
