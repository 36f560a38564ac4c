/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/mailbox.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

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

int32_t mailbox_open(struct mailbox *mailbox, mli_mov_handle_t *handle, uint32_t chain)
{
    while (sem_trywait(&mailbox->called) == 0)
        ; /* nobody waited for these */
    mailbox->sequence = (mailbox->sequence + 1) & SEQUENCE_MASK;
    mailbox->handle = handle;
    mailbox->chain = chain;
    atomic_store(&mailbox->calls, 0);
    atomic_store(&mailbox->cookie, (int32_t)(mailbox->sequence << WORKER_BITS | mailbox->number));
    return atomic_load(&mailbox->cookie);
}

void mailbox_post(int32_t cookie)
{
    struct mailbox *mailbox = &mailboxes[(uint32_t)cookie % MAILBOXES_MAX];
    if (cookie != atomic_load(&mailbox->cookie)) {
        atomic_fetch_add(&mailbox->strays, 1);
        return;
    }
    if (!mli_mov_isdone(mailbox->handle))
        atomic_fetch_add(&mailbox->early, 1);
    /* Counted before the next start: with the inline engine that one's call is inside it. */
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

void mailbox_rearm(struct mailbox *mailbox)
{
    atomic_store(&mailbox->over, false);
}

/* Sleeps until a call comes, or for a while. */
static void doze(struct mailbox *mailbox)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += DOZE_NS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    (void)sem_timedwait(&mailbox->called, &until);
}

/* A callback that is to come may still be on its way when its transfer is done. */
static bool called_late(struct mailbox *mailbox)
{
    for (int i = 0; i < LATE_DOZES && !atomic_load(&mailbox->over); i++)
        doze(mailbox);
    return atomic_load(&mailbox->over);
}

bool mailbox_await(struct mailbox *mailbox, struct flight *flight)
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
