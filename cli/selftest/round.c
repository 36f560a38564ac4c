/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/selftest/audit.h"
#include "cli/selftest/progress.h"
#include "cli/selftest/worker.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "mli_helpers_api.h"

enum {
    WATCH_MS = 20,
    OVERDUE_MAX = 4 /* each takes a whole timeout: an engine gets no more than these */
};

bool round_take(struct round *round, uint64_t *index)
{
    const struct round_plan *plan = round->plan;
    if (atomic_load(&round->stop))
        return false;
    const uint64_t taken = atomic_fetch_add(&round->taken, 1);
    *index = plan->only_one ? plan->only : taken;
    return taken < plan->iterations;
}

void round_leave(struct round *round)
{
    pthread_mutex_lock(&round->mutex);
    round->workers--;
    pthread_cond_signal(&round->left);
    pthread_mutex_unlock(&round->mutex);
}

static void fail_locked(struct round *round, const struct failure *failure)
{
    if (round->closed)
        return;
    if (round->failures < ROUND_FAILURES_TOLD) {
        round->told[round->failures] = *failure;
        round->on_failure(round->context, round, failure);
    }
    round->failures++;
    round->stuck += failure->kind == FAILURE_stuck;
    round->overdue += failure->kind == FAILURE_stuck || failure->kind == FAILURE_callback;
    if (round->plan->fail_fast || round->overdue >= OVERDUE_MAX)
        atomic_store(&round->stop, true);
}

void round_fail(struct round *round, const struct failure *failure)
{
    pthread_mutex_lock(&round->mutex);
    fail_locked(round, failure);
    pthread_mutex_unlock(&round->mutex);
}

void round_note(struct round *round, const struct transfer *transfer)
{
    const struct move_case *c = transfer->c;
    pthread_mutex_lock(&round->mutex);
    if (round->closed)
        goto out;
    round->cases++;
    round->moving_ns += transfer->moving_ns;
    round->busy_claims += transfer->busy_claims;
    round->channel_starts += transfer->starts;
    round->channel_bytes += transfer->starts * c->written;
    if (c->mode == CASE_MODE_sync)
        round->sync_bytes += c->written;
    round->bytes += c->written * (c->mode == CASE_MODE_sync ? 1 : transfer->starts);
    if (transfer->failure->kind != FAILURE_none)
        fail_locked(round, transfer->failure);
out:
    pthread_mutex_unlock(&round->mutex);
}

/* As many channels as wanted, or as the engine has. */
static bool open_pool(struct round *round)
{
    if (mli_mov_set_engine(round->engine) != MLI_STATUS_OK)
        return false;
    round->channels = round->plan->limits.channels;
    while (mli_mov_set_num_dma_ch(0, (int)round->channels) != MLI_STATUS_OK) {
        if (--round->channels == 0)
            return false;
    }
    return true;
}

/* A pool that cannot be emptied has lost a handle. */
static void close_pool(struct round *round)
{
    if (mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK)
        return;
    struct failure failure = {.kind = FAILURE_none};
    failure_set(&failure, FAILURE_refused, "mli_mov_set_num_dma_ch(0, 0): %s", mli_last_error());
    round->lost = true;
    round_fail(round, &failure);
}

/* Looks after all transfers. True when one of them will never end. */
static bool watch_once(struct round *round, struct worker *workers, uint32_t count)
{
    const struct round_plan *plan = round->plan;
    const bool interrupt = cancel_requested();
    bool lost = false;
    if (interrupt || (plan->round_ns && flight_now_ns() - round->begin_ns > plan->round_ns))
        atomic_store(&round->stop, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!flight_watch(&workers[i].flight, plan->timeout_ns, interrupt))
            continue;
        /* The worker hangs: its case stays as it is. */
        struct failure failure = {.has_case = true, .c = workers[i].failure.c};
        failure_set(&failure, FAILURE_stuck,
                    "does not end, not even when it is cancelled: giving up");
        round_fail(round, &failure);
        lost = true;
    }
    return lost;
}

/* Not even the other workers are awaited: they may need the channels that are lost. */
static void abandon(struct round *round, struct worker *workers, uint32_t count)
{
    atomic_store(&round->stop, true);
    for (uint32_t i = 0; i < count; i++)
        pthread_detach(workers[i].thread);
    pthread_mutex_lock(&round->mutex);
    round->closed = round->lost = true;
    pthread_mutex_unlock(&round->mutex);
    audit_read(round);
}

/* Until all workers have left; false where some never will. */
static bool watch(struct round *round, struct worker *workers, uint32_t count)
{
    struct progress progress = {.shown = false};
    uint32_t left = count;
    bool lost = false;
    while (left > 0 && !lost) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WATCH_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&round->mutex);
        if (round->workers > 0)
            pthread_cond_timedwait(&round->left, &round->mutex, &until);
        left = round->workers;
        if (round->plan->progress)
            progress_show(&progress, round);
        pthread_mutex_unlock(&round->mutex);
        lost = watch_once(round, workers, count);
        audit_running(round);
    }
    progress_clear(&progress);
    return !lost;
}

/* Starts as many as can be had; returns how many. */
static uint32_t start(struct round *round, struct worker *workers)
{
    uint32_t count = 0;
    for (; count < round->plan->threads; count++) {
        int error = -worker_init(&workers[count], round, count);
        pthread_mutex_lock(&round->mutex);
        round->workers++; /* those before may be leaving already */
        pthread_mutex_unlock(&round->mutex);
        if (!error)
            error = pthread_create(&workers[count].thread, NULL, worker_main, &workers[count]);
        if (error) {
            print_error("worker %u: %s", count, strerror(error));
            worker_finish(&workers[count]);
            round_leave(round);
            atomic_store(&round->stop, true);
            break;
        }
    }
    return count;
}

static void begin(struct round *round)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&round->left, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&round->mutex, NULL);
    round->begin_ns = flight_now_ns();
}

enum round_end round_run(struct round *round)
{
    begin(round);
    if (!open_pool(round))
        return ROUND_REFUSED;
    struct worker *workers = calloc(round->plan->threads, sizeof(*workers));
    const uint32_t count = workers ? start(round, workers) : 0;
    if (count > 0 && !watch(round, workers, count)) {
        /* A worker hangs in the library: it keeps its memory, and all else is left as it is. */
        abandon(round, workers, count);
        return ROUND_DONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        worker_finish(&workers[i]);
    }
    free(workers);
    audit_final(round);
    close_pool(round);
    return count == round->plan->threads ? ROUND_DONE : ROUND_FAILED;
}

void round_finish(struct round *round)
{
    if (round->lost)
        return; /* a thread may still come back to it */
    pthread_cond_destroy(&round->left);
    pthread_mutex_destroy(&round->mutex);
}
