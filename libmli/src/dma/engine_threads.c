/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine threads: every channel is a thread with a mailbox for one work item. Submitting
 * exchanges one word; a system call is needed only if the thread sleeps.
 */
#include "libmli/src/dma/engines.h"

#if ENGINE_HAS_THREADS

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libmli/src/dma/park.h"
#include "libmli/src/dma/pool.h"
#include "libmli/src/dma/processor.h"

enum {
    /* Up to this size, the thread that starts a transfer also moves the data: waking another thread
       takes longer than the move, unless the move is slow. Measured with `bench-async tiny`. */
    TINY = 32 * 1024,
    /* Checks of the mailbox before the thread goes to sleep: a few microseconds. Without them, most
       transfers that are started one after the other cost a wake-up each (`bench-async rate`). */
    LINGER = 100
};

enum mail {
    EMPTY = 0, /* the thread is awake, and will check again */
    SLEEPING,  /* the mailbox is empty, and the thread must be woken */
    FULL,      /* the mailbox has a work item */
    CLOSING    /* the thread must end */
};

static struct worker {
    _Alignas(64) _Atomic uint32_t mail;
    struct mli_work *work; /* valid while FULL */
    pthread_t thread;
    pid_t process; /* process that has the thread; a forked child does not have it */
} workers[POOL_CHANNELS];

/* Waits a moment for mail, because a work item that arrives now needs no wake-up. */
static uint32_t linger(struct worker *worker)
{
    uint32_t mail = atomic_load(&worker->mail);

    for (int i = 0; i < LINGER && mail == EMPTY; i++) {
        relax();
        mail = atomic_load(&worker->mail);
    }
    return mail;
}

/* Sleeps until there is mail. Returns false if the thread must end. */
static bool receive(struct worker *worker, struct mli_work **work)
{
    uint32_t mail = linger(worker);

    while (mail != FULL && mail != CLOSING) {
        if (mail == SLEEPING || atomic_compare_exchange_strong(&worker->mail, &mail, SLEEPING))
            park(&worker->mail, SLEEPING);
        mail = atomic_load(&worker->mail);
    }
    if (mail == CLOSING)
        return false;
    *work = worker->work;
    atomic_store(&worker->mail, EMPTY); /* first: after done() the next work item may arrive */
    return true;
}

static void *serve(void *context)
{
    struct worker *worker = context;
    struct mli_work *work;
    char name[16];

    snprintf(name, sizeof(name), "mli-dma-%u", (uint8_t)(worker - workers));
    prctl(PR_SET_NAME, name);
    while (receive(worker, &work))
        processor_run(work);
    return NULL;
}

static void send(struct worker *worker, enum mail mail)
{
    if (atomic_exchange(&worker->mail, mail) == SLEEPING)
        unpark(&worker->mail);
}

static uint32_t probe(void)
{
    return POOL_CHANNELS;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_CPU;
    caps->loops = MLI_MAX_RANK;
    caps->tiny = TINY;
}

/*
 * Blocks all signals in the new thread, because they are for the program's threads; except those
 * that the thread's own faults raise.
 */
static bool open_channel(uint32_t channel)
{
    struct worker *worker = &workers[channel];
    sigset_t blocked, before;
    int error;

    atomic_store(&worker->mail, EMPTY);
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&worker->thread, NULL, serve, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    worker->process = getpid();
    return error == 0;
}

static void close_channel(uint32_t channel)
{
    /* The child of a fork has the channels, but not their threads. */
    if (workers[channel].process != getpid())
        return;
    send(&workers[channel], CLOSING);
    pthread_join(workers[channel].thread, NULL);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    workers[channel].work = work;
    send(&workers[channel], FULL);
}

const struct mli_engine engine_threads = {
    .size = sizeof(struct mli_engine),
    .name = "threads",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
};

#endif
