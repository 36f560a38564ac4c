/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/round.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/terminal.h"
#include "mli_helpers_api.h"
#include "mli_plan.h"

enum {
    WATCH_MS = 20,
    OVERDUE_MAX = 4 /* after this number of failures that take a whole timeout, the round ends */
};

/* A thread that takes one case after another until the round has no more cases. */
struct worker {
    struct round *round;
    uint32_t number;
    pthread_t thread;
    struct flight flight;
    struct images images;
    struct failure failure; /* failure of the current case */
};

/* Sets *index to the index of the next case. Returns false if there are no more cases. */
static bool take_case(struct round *round, uint64_t *index)
{
    const struct round_plan *plan = round->plan;
    uint64_t taken;

    if (atomic_load(&round->stop))
        return false;
    pthread_mutex_lock(&round->mutex);
    taken = round->taken++;
    pthread_mutex_unlock(&round->mutex);
    *index = plan->only_one ? plan->only : taken;
    return taken < plan->iterations;
}

static void leave(struct round *round)
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
    selftest_report_failure(round, failure);
    round->overdue += failure->kind == FAILURE_stuck || failure->kind == FAILURE_callback;
    if (round->plan->fail_fast || round->overdue >= OVERDUE_MAX)
        atomic_store(&round->stop, true);
}

/* Counts a failure, and reports the first few. */
static void fail(struct round *round, const struct failure *failure)
{
    pthread_mutex_lock(&round->mutex);
    fail_locked(round, failure);
    pthread_mutex_unlock(&round->mutex);
}

/* Adds the numbers of a case that has ended. */
static void note(struct round *round, const struct transfer *transfer)
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

enum { SHOWN_MAX = 256 };

#define PATIENCE_NS (UINT64_C(1000) * 1000 * 1000)
#define PERIOD_NS   (UINT64_C(250) * 1000 * 1000)

void round_progress_show(struct round_progress *progress, const struct round *round)
{
    const struct round_plan *plan = round->plan;
    const uint64_t now = clock_ns();
    char bytes[PRINT_TEXT_MAX], total[PRINT_TEXT_MAX] = "", line[SHOWN_MAX];
    int rows = 0, columns = SHOWN_MAX;

    if (now - round->begin_ns < PATIENCE_NS || now - progress->shown_ns < PERIOD_NS)
        return;
    if (plan->iterations != UINT64_MAX)
        snprintf(total, sizeof(total), " of %" PRIu64, plan->iterations);
    snprintf(line, sizeof(line), "%s: %" PRIu64 "%s cases, %s", round->engine, round->cases, total,
             print_bytes(bytes, round->bytes));
    /* Overwrite the line. It must not wrap: a second line would stay on the screen. */
    terminal_size(STDERR_FILENO, &rows, &columns);
    fprintf(stderr, "\r%.*s\033[K", columns - 1, line);
    fflush(stderr);
    progress->shown = true;
    progress->shown_ns = now;
}

void round_progress_clear(struct round_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}

static int complain(struct failure *failure, uint32_t channel, const mli_mov_channel_stats *s,
                    const char *what)
{
    return failure_set(failure, FAILURE_counters,
                       "channel %" PRIu32 ": %" PRIu64 " submitted, %" PRIu64 " completed, %" PRIu64
                       " failed, %" PRIu64 " cancelled: %s",
                       channel, s->submitted, s->completed, s->failed, s->cancelled, what);
}

static uint64_t ended(const mli_mov_channel_stats *s)
{
    return s->completed + s->failed + s->cancelled;
}

/* Checks the counts of the channels during a round: no channel has ended more transfers than it
 * was given. */
static void audit_running(struct round *round)
{
    struct failure failure = {.kind = FAILURE_none};
    mli_mov_channel_stats now;

    for (uint32_t i = 0; i < round->channels; i++) {
        if (mli_mov_get_channel_stats((int)i, &now) != MLI_STATUS_OK)
            failure_set(&failure, FAILURE_counters, "channel %" PRIu32 " has no statistics", i);
        else if (ended(&now) > now.submitted)
            complain(&failure, i, &now, "more transfers ended than were submitted");
    }
    if (failure.kind != FAILURE_none)
        fail(round, &failure);
}

/* Checks the sums over all channels. */
static void check_sums(struct round *round, struct failure *failure)
{
    uint64_t completed = 0, bytes = 0, rows = 0;

    for (uint32_t i = 0; i < round->channels; i++) {
        completed += round->stats[i].completed;
        bytes += round->stats[i].bytes;
        rows += round->stats[i].rows;
    }
    /* The library chooses whether a synchronous move uses channels. */
    if (bytes < round->channel_bytes || bytes > round->channel_bytes + round->sync_bytes)
        failure_set(failure, FAILURE_counters,
                    "the channels have counted %" PRIu64 " B, but were given %" PRIu64
                    " B, and synchronous moves of %" PRIu64 " B",
                    bytes, round->channel_bytes, round->sync_bytes);
    if (completed < round->channel_starts || rows < completed)
        failure_set(failure, FAILURE_counters,
                    "the channels have counted %" PRIu64 " completed in %" PRIu64 " rows; %" PRIu64
                    " transfers were started",
                    completed, rows, round->channel_starts);
}

static void read_stats(struct round *round)
{
    for (uint32_t i = 0; i < round->channels; i++)
        (void)mli_mov_get_channel_stats((int)i, &round->stats[i]);
}

/* Checks the counters after all transfers have ended. */
static void audit_final(struct round *round)
{
    struct failure failure = {.kind = FAILURE_none};

    read_stats(round);
    for (uint32_t i = 0; i < round->channels; i++) {
        const mli_mov_channel_stats *s = &round->stats[i];
        if (s->submitted != ended(s))
            complain(&failure, i, s, "the sum is wrong");
        else if (s->queue_high_water > 1 + MLI_PLAN_SLABS_MAX ||
                 (s->submitted > 0 && s->queue_high_water == 0))
            complain(&failure, i, s,
                     "the queue's high water mark is not a possible number of descriptors");
    }
    /* After a failure or an interrupt the number of moved bytes is unknown. */
    if (round->failures == 0 && !cancel_requested())
        check_sums(round, &failure);
    if (failure.kind != FAILURE_none)
        fail(round, &failure);
}

static int worker_init(struct worker *worker, struct round *round, uint32_t number)
{
    *worker = (struct worker){.round = round, .number = number};
    flight_init(&worker->flight);
    return images_init(&worker->images, round->plan->limits.max_bytes);
}

static void worker_finish(struct worker *worker)
{
    images_finish(&worker->images);
    flight_finish(&worker->flight);
}

static void run_case(struct worker *worker, uint64_t index)
{
    struct round *round = worker->round;
    struct failure *failure = &worker->failure;
    struct move_case *c = &failure->c;
    struct transfer transfer = {.c = c,
                                .flight = &worker->flight,
                                .mailbox = mailbox_of(worker->number),
                                .stop = &round->stop,
                                .channels = round->channels,
                                .timeout_ns = round->plan->timeout_ns,
                                .failure = failure};

    failure->kind = FAILURE_none;
    failure->has_case = true;
    case_draw(c, round->plan->seed, index, &round->plan->limits);
    images_fill(&worker->images, c);
    const int result = transfer_run(&transfer, &worker->images);
    if (transfer.interrupted)
        return;
    if (result == 0 && mismatch_find(&failure->mismatch, &worker->images, c)) {
        char text[MISMATCH_TEXT_MAX];
        failure_set(failure, FAILURE_mismatch, "%s",
                    mismatch_text(&failure->mismatch, &worker->images, c, text));
    }
    note(round, &transfer);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    uint64_t index;

    while (take_case(worker->round, &index))
        run_case(worker, index);
    leave(worker->round);
    return NULL;
}

/* Creates the pool with the requested channels, or with fewer if the engine has fewer. */
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

/* Empties the pool. A refusal means that a handle was lost. */
static void close_pool(struct round *round)
{
    if (mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK)
        return;
    struct failure failure = {.kind = FAILURE_none};
    failure_set(&failure, FAILURE_refused, "mli_mov_set_num_dma_ch(0, 0): %s", mli_last_error());
    round->lost = true;
    fail(round, &failure);
}

/* Cancels overdue transfers. Returns whether a transfer is lost. */
static bool watch_once(struct round *round, struct worker *workers, uint32_t count)
{
    const struct round_plan *plan = round->plan;
    const bool interrupt = cancel_requested();
    bool lost = false;

    if (interrupt || (plan->round_ns && clock_ns() - round->begin_ns > plan->round_ns))
        atomic_store(&round->stop, true);
    for (uint32_t i = 0; i < count; i++) {
        if (!flight_watch(&workers[i].flight, plan->timeout_ns, interrupt))
            continue;
        /* The worker hangs and no longer changes its case, so this thread can read the case. */
        struct failure failure = {.has_case = true, .c = workers[i].failure.c};
        failure_set(&failure, FAILURE_stuck,
                    "the transfer does not end, even after a cancel: the selftest stops");
        fail(round, &failure);
        lost = true;
    }
    return lost;
}

/* Detaches all workers, because all of them may wait for the lost channels. */
static void abandon(struct round *round, struct worker *workers, uint32_t count)
{
    atomic_store(&round->stop, true);
    for (uint32_t i = 0; i < count; i++)
        pthread_detach(workers[i].thread);
    pthread_mutex_lock(&round->mutex);
    round->closed = round->lost = true;
    pthread_mutex_unlock(&round->mutex);
    read_stats(round);
}

/* Waits until all workers have left. Returns false if a worker is lost. */
static bool watch(struct round *round, struct worker *workers, uint32_t count)
{
    struct round_progress progress = {.shown = false};
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
            round_progress_show(&progress, round);
        pthread_mutex_unlock(&round->mutex);
        lost = watch_once(round, workers, count);
        audit_running(round);
    }
    round_progress_clear(&progress);
    return !lost;
}

/* Starts the workers. Returns their number, which is lower if memory or threads run out. */
static uint32_t start(struct round *round, struct worker *workers)
{
    uint32_t count = 0;

    for (; count < round->plan->threads; count++) {
        int error = -worker_init(&workers[count], round, count);
        pthread_mutex_lock(&round->mutex);
        round->workers++; /* under the mutex: workers that started earlier may be ending */
        pthread_mutex_unlock(&round->mutex);
        if (!error)
            error = pthread_create(&workers[count].thread, NULL, worker_main, &workers[count]);
        if (error) {
            print_error("worker %u: %s", count, strerror(error));
            worker_finish(&workers[count]);
            leave(round);
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
    round->begin_ns = clock_ns();
}

enum round_end round_run(struct round *round)
{
    begin(round);
    if (!open_pool(round))
        return ROUND_REFUSED;
    struct worker *workers = calloc(round->plan->threads, sizeof(*workers));
    const uint32_t count = workers ? start(round, workers) : 0;
    if (!workers)
        print_error("out of memory");
    if (count > 0 && !watch(round, workers, count)) {
        /* A worker hangs in the library: keep its memory and the pool. */
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
        return; /* a hanging thread may still use the round */
    pthread_cond_destroy(&round->left);
    pthread_mutex_destroy(&round->mutex);
}
