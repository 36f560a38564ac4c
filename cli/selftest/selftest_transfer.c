/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/selftest/round.h"
#include "cli/term/clock_ns.h"
#include "mli_helpers_api.h"
#include "mli_kernels_api.h"

/* Time for a transfer to end after an interrupt. */
#define INTERRUPT_NS (UINT64_C(200) * 1000 * 1000)

void flight_init(struct flight *flight)
{
    *flight = (struct flight){.flying = false};
    pthread_mutex_init(&flight->mutex, NULL);
}

void flight_finish(struct flight *flight)
{
    pthread_mutex_destroy(&flight->mutex);
}

/* Begins a call. `handle`: to cancel the transfer; null: the call cannot be cancelled. */
static void flight_begin(struct flight *flight, const mli_mov_handle_t *handle)
{
    pthread_mutex_lock(&flight->mutex);
    flight->flying = true;
    flight->has_handle = handle != NULL;
    if (handle)
        flight->handle = *handle;
    flight->expired = flight->interrupted = false;
    flight->since_ns = clock_ns();
    pthread_mutex_unlock(&flight->mutex);
}

/* Ends the call; `expired` and `interrupted` are valid from now on. */
static void flight_end(struct flight *flight)
{
    pthread_mutex_lock(&flight->mutex);
    flight->flying = false;
    pthread_mutex_unlock(&flight->mutex);
}

/* Returns whether the call has been cancelled; call it before flight_end(). */
static bool flight_expired(struct flight *flight)
{
    pthread_mutex_lock(&flight->mutex);
    const bool expired = flight->expired || flight->interrupted;
    pthread_mutex_unlock(&flight->mutex);
    return expired;
}

bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt)
{
    const uint64_t patience = interrupt && INTERRUPT_NS < timeout_ns ? INTERRUPT_NS : timeout_ns;
    bool lost = false;

    pthread_mutex_lock(&flight->mutex);
    const uint64_t now = clock_ns();
    if (flight->flying && (flight->expired || flight->interrupted)) {
        lost = now - flight->cancelled_ns > patience;
    } else if (flight->flying && now - flight->since_ns > patience) {
        flight->interrupted = interrupt;
        flight->expired = !interrupt;
        flight->cancelled_ns = now;
        /* The handle cannot be released meanwhile: its owner has to pass flight_end() first. */
        if (flight->has_handle)
            (void)mli_mov_cancel(&flight->handle);
    }
    pthread_mutex_unlock(&flight->mutex);
    return lost;
}

enum {
    WORKER_BITS = 6,
    SEQUENCE_MASK = 0xffffff,
    NS_PER_S = 1000 * 1000 * 1000,
    DOZE_NS = 20 * 1000 * 1000,
    LATE_DOZES = 3
};

_Static_assert(MAILBOXES_MAX == 1 << WORKER_BITS, "a cookie has room for the worker");

static struct mailbox mailboxes[MAILBOXES_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_all(void)
{
    for (uint32_t i = 0; i < MAILBOXES_MAX; i++) {
        mailboxes[i].number = i;
        sem_init(&mailboxes[i].called, 0, 0);
    }
}

struct mailbox *mailbox_of(uint32_t worker)
{
    pthread_once(&once, init_all);
    return &mailboxes[worker];
}

/*
 * Prepares the mailbox for the next transfer, which is on `handle`. Its callback starts the
 * transfer `chain` more times. Returns the cookie for mailbox_post().
 */
static int32_t mailbox_open(struct mailbox *mailbox, mli_mov_handle_t *handle, uint32_t chain)
{
    while (sem_trywait(&mailbox->called) == 0)
        ; /* forgets the callbacks of the previous transfer */
    mailbox->sequence = (mailbox->sequence + 1) & SEQUENCE_MASK;
    mailbox->handle = handle;
    mailbox->chain = chain;
    atomic_store(&mailbox->calls, 0);
    atomic_store(&mailbox->cookie, (int32_t)(mailbox->sequence << WORKER_BITS | mailbox->number));
    return atomic_load(&mailbox->cookie);
}

/* The completion callback of all handles. */
static void mailbox_post(int32_t cookie)
{
    struct mailbox *mailbox = &mailboxes[(uint32_t)cookie % MAILBOXES_MAX];

    if (cookie != atomic_load(&mailbox->cookie)) {
        atomic_fetch_add(&mailbox->strays, 1);
        return;
    }
    if (!mli_mov_isdone(mailbox->handle))
        atomic_fetch_add(&mailbox->early, 1);
    /* Count before the next start: the inline engine calls back inside mli_mov_start(). */
    const uint32_t calls = atomic_fetch_add(&mailbox->calls, 1) + 1;
    mli_mov_status_t status;
    if (calls <= mailbox->chain && mli_mov_get_status(mailbox->handle, &status) == MLI_STATUS_OK &&
        status.code == MLI_STATUS_OK) {
        if (mli_mov_start(mailbox->handle, NULL, NULL, NULL) == MLI_STATUS_OK)
            return;
        atomic_fetch_add(&mailbox->unstarted, 1);
    }
    atomic_store(&mailbox->over, true);
    sem_post(&mailbox->called);
}

/* Sleeps until a call comes, at most DOZE_NS. */
static void doze(struct mailbox *mailbox)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += DOZE_NS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    (void)sem_timedwait(&mailbox->called, &until);
}

/* Waits a little for the callback of a transfer that is done. Returns whether it has come. */
static bool called_late(struct mailbox *mailbox)
{
    for (int i = 0; i < LATE_DOZES && !atomic_load(&mailbox->over); i++)
        doze(mailbox);
    return atomic_load(&mailbox->over);
}

/*
 * Waits for the last callback, and drives an engine that has to be polled. Returns false if the
 * flight has expired and the transfer is done, but no callback comes.
 */
static bool mailbox_await(struct mailbox *mailbox, struct flight *flight)
{
    const bool polled = mli_mov_is_polled();

    while (!atomic_load(&mailbox->over)) {
        if (!polled)
            doze(mailbox);
        else if (mli_mov_poll() == 0)
            sched_yield();
        if (flight_expired(flight) && mli_mov_isdone(mailbox->handle) && !called_late(mailbox))
            return false;
    }
    return true;
}

enum { PATIENT_CLAIMS = 64, CLAIM_PAUSE_US = 20 };

static int refused(struct transfer *t, const char *call, mli_status status)
{
    return failure_set(t->failure, FAILURE_refused, "%s: %s: %s", call, mli_status_name(status),
                       mli_last_error());
}

/* Checks the fields of dst after a move. */
static int check_layout(struct transfer *t)
{
    const struct move_case *c = t->c;
    const uint32_t rank = c->move.src.rank;
    bool same = t->dst.rank == rank && t->dst.el_type == c->move.src.el_type &&
                memcmp(t->dst.shape, c->move.dst_shape, rank * sizeof(uint32_t)) == 0;

    for (uint32_t i = 0; i < rank && !c->kernel; i++)
        same = same && (c->move.dst_shape[i] == 1 || t->dst.mem_stride[i] == c->move.dst_stride[i]);
    if (same)
        return 0;
    return failure_set(
        t->failure, FAILURE_layout,
        "the destination's rank, shape, strides or type differ from those of the move");
}

static mli_status call_kernel(struct transfer *t)
{
    mli_permute_cfg cfg;

    memcpy(cfg.perm_dim, t->c->move.cfg.perm_dim, sizeof(cfg.perm_dim));
    switch (t->src.el_type) {
    case MLI_EL_FX_8:
        return mli_krn_permute_fx8(&t->src, &cfg, &t->dst);
    case MLI_EL_SA_8:
        return mli_krn_permute_sa8(&t->src, &cfg, &t->dst);
    case MLI_EL_FX_16:
        return mli_krn_permute_fx16(&t->src, &cfg, &t->dst);
    default:
        return mli_krn_permute_sa32(&t->src, &cfg, &t->dst);
    }
}

static int run_sync(struct transfer *t)
{
    const uint64_t begin = clock_ns();

    flight_begin(t->flight, NULL);
    const mli_status status =
        t->c->kernel ? call_kernel(t) : mli_mov_tensor_sync(&t->src, &t->c->move.cfg, &t->dst);
    flight_end(t->flight);
    t->moving_ns += clock_ns() - begin;
    if (status == MLI_STATUS_OK)
        return check_layout(t);
    if (status == MLI_STATUS_DMA_ERROR)
        return failure_set(t->failure, FAILURE_error, "mli_mov_tensor_sync: MLI_STATUS_DMA_ERROR");
    return refused(t, t->c->kernel ? "mli_krn_permute" : "mli_mov_tensor_sync", status);
}

/* Claims channels. Other workers hold channels for one transfer, so claim repeatedly. */
static int claim(struct transfer *t)
{
    const uint32_t width = t->c->width < t->channels ? t->c->width : t->channels;
    const uint64_t begin = clock_ns();

    for (uint32_t tries = 0;; tries++) {
        const mli_status status = mli_mov_acquire_handle((int)width, &t->handle);
        if (status == MLI_STATUS_OK)
            return 0;
        if (status != MLI_STATUS_NOT_ENGH_MEM)
            return refused(t, "mli_mov_acquire_handle", status);
        t->busy_claims++;
        t->interrupted = atomic_load(t->stop);
        if (t->interrupted)
            return -1;
        /* Several transfers of other workers may each take a timeout first. */
        if (clock_ns() - begin > 4 * t->timeout_ns)
            return failure_set(t->failure, FAILURE_stuck,
                               "%" PRIu32 " channels did not become free", width);
        if (tries < PATIENT_CLAIMS)
            sched_yield();
        else
            usleep(CLAIM_PAUSE_US);
    }
}

/* Waits for the end. Returns false if the transfer is done, but its callback does not come. */
static bool await(struct transfer *t)
{
    switch (t->c->mode) {
    case CASE_MODE_poll:
        while (!mli_mov_isdone(&t->handle))
            sched_yield();
        break;
    case CASE_MODE_callback:
        return mailbox_await(t->mailbox, t->flight);
    default:
        (void)mli_mov_wait(&t->handle); /* check_status() reads the status */
    }
    return true;
}

static int check_status(struct transfer *t)
{
    mli_mov_status_t now;
    const mli_status waited = mli_mov_wait(&t->handle);
    const mli_status status = mli_mov_get_status(&t->handle, &now);

    if (status != MLI_STATUS_OK)
        return refused(t, "mli_mov_get_status", status);
    t->interrupted = t->flight->interrupted;
    if (t->interrupted)
        return -1;
    if (t->flight->expired)
        return failure_set(t->failure, FAILURE_stuck,
                           "not done after %" PRIu64 " ms; then cancelled, and ended with %s",
                           t->timeout_ns / 1000000, mli_status_name(now.code));
    if (now.code != MLI_STATUS_OK)
        return failure_set(t->failure, FAILURE_error,
                           "%s on channel %" PRIu32 ", in row %" PRIu64 " of descriptor %" PRIu32,
                           mli_status_name(now.code), now.channel, now.row, now.descriptor);
    if (waited != MLI_STATUS_OK)
        return refused(t, "mli_mov_wait", waited);
    if (now.stage != MLI_MOV_DONE || now.bytes != t->c->written || now.bytes_total != now.bytes)
        return failure_set(t->failure, FAILURE_refused,
                           "mli_mov_get_status: stage %d, %" PRIu64 " of %" PRIu64
                           " B written; the move has %" PRIu64 " B",
                           (int)now.stage, now.bytes, now.bytes_total, t->c->written);
    return 0;
}

static int start_and_wait(struct transfer *t)
{
    const uint64_t begin = clock_ns();

    atomic_store(&t->mailbox->over, false);
    flight_begin(t->flight, &t->handle);
    const mli_status status = mli_mov_start(&t->handle, &t->src, &t->c->move.cfg, &t->dst);
    const bool called = status != MLI_STATUS_OK || await(t);
    flight_end(t->flight);
    t->moving_ns += clock_ns() - begin;
    if (status != MLI_STATUS_OK)
        return refused(t, "mli_mov_start", status);
    if (!called)
        failure_set(t->failure, FAILURE_callback,
                    "the transfer is done, but after %" PRIu64 " ms there was no callback",
                    t->timeout_ns / 1000000);
    return check_status(t);
}

/* Starts the transfer c->starts times; stops at a wrong result, and keeps it. */
static int start_all(struct transfer *t, const struct images *images)
{
    const uint32_t starts = t->c->chained ? 1 : t->c->starts;

    for (uint32_t i = 0; i < starts; i++) {
        if (i > 0)
            images_rearm(images, t->c);
        t->starts += t->c->chained ? t->c->starts : 1;
        if (start_and_wait(t))
            return -1;
        if (memcmp(images->dst, images->expected, t->c->dst_frame.bytes) != 0)
            break;
    }
    return 0;
}

/* Checks for exactly one call for each start, with the cookie, after the transfer was done. */
static int check_calls(struct transfer *t)
{
    const uint32_t calls = atomic_load(&t->mailbox->calls), starts = (uint32_t)t->starts;
    const uint32_t early = atomic_exchange(&t->mailbox->early, 0);
    const uint32_t strays = atomic_exchange(&t->mailbox->strays, 0);
    const uint32_t unstarted = atomic_exchange(&t->mailbox->unstarted, 0);

    if (calls == starts && early == 0 && strays == 0 && unstarted == 0)
        return 0;
    return failure_set(t->failure, FAILURE_callback,
                       "%" PRIu32 " callbacks for %" PRIu32 " starts, %" PRIu32
                       " before isdone was true, %" PRIu32 " with another cookie, %" PRIu32
                       " whose own start was refused",
                       calls, starts, early, strays, unstarted);
}

static int prepare(struct transfer *t)
{
    mli_status status;

    if (t->c->mode == CASE_MODE_callback) {
        const int32_t cookie =
            mailbox_open(t->mailbox, &t->handle, t->c->chained ? t->c->starts - 1 : 0);
        status = mli_mov_registercallback(&t->handle, mailbox_post, cookie);
        if (status != MLI_STATUS_OK)
            return refused(t, "mli_mov_registercallback", status);
    }
    status = mli_mov_prepare(&t->handle, &t->src, &t->c->move.cfg, &t->dst);
    return status == MLI_STATUS_OK ? check_layout(t) : refused(t, "mli_mov_prepare", status);
}

static int run_async(struct transfer *t, const struct images *images)
{
    int result = claim(t);

    if (result)
        return result;
    result = prepare(t);
    if (result == 0)
        result = start_all(t, images);
    flight_begin(t->flight, &t->handle);
    mli_status status = mli_mov_synchronise(&t->handle);
    flight_end(t->flight);
    if (status != MLI_STATUS_OK)
        result = refused(t, "mli_mov_synchronise", status);
    if (result == 0 && t->c->mode == CASE_MODE_callback)
        result = check_calls(t);
    status = mli_mov_release_handle(&t->handle);
    return status == MLI_STATUS_OK ? result : refused(t, "mli_mov_release_handle", status);
}

int transfer_run(struct transfer *t, const struct images *images)
{
    const struct move_case *c = t->c;

    t->src = c->move.src;
    t->dst = c->move.dst;
    t->src.data.mem.pi8 = (int8_t *)images->src + c->src_frame.before;
    t->src.data.capacity = (uint32_t)c->src_frame.tensor;
    t->dst.data.mem.pi8 = (int8_t *)images->dst + c->dst_frame.before;
    t->dst.data.capacity = (uint32_t)c->dst_frame.tensor;
    return c->mode == CASE_MODE_sync ? run_sync(t) : run_async(t, images);
}
