/* SPDX-License-Identifier: BSD-3-Clause */
/* A case, carried out through the public API on the current engine. */
#ifndef CLI_SELFTEST_TRANSFER_H
#define CLI_SELFTEST_TRANSFER_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/selftest/failure.h"
#include "mli_mov_api.h"

/*
 * A call into the library, watched by another thread: after a timeout the transfer is cancelled; if
 * the call does not return even then, it is lost.
 */

struct flight {
    pthread_mutex_t mutex;
    bool flying, has_handle;
    mli_mov_handle_t handle; /* a copy */
    uint64_t since_ns;
    bool expired, interrupted; /* the call was cancelled: by the timeout; by the user */
    uint64_t cancelled_ns;
};

void flight_init(struct flight *flight);
void flight_finish(struct flight *flight);

/** Cancels an overdue call; the watching thread calls this repeatedly. Returns whether the call is
 *  lost. */
bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt);

uint64_t flight_now_ns(void);

/* The largest number of workers. */
#define MAILBOXES_MAX 64

/*
 * Counts the calls of a completion callback. Each worker has one; the cookie names the mailbox and
 * the transfer, so that a late or a second call is noticed.
 */
struct mailbox {
    sem_t called;
    uint32_t number;
    uint32_t sequence;          /* makes each cookie different */
    _Atomic int32_t cookie;     /* the registered cookie */
    mli_mov_handle_t *handle;   /* handle of the worker's transfer */
    uint32_t chain;             /* starts that the callback makes */
    atomic_bool over;           /* true: the last call has come */
    _Atomic uint32_t calls;     /* number of calls with the right cookie */
    _Atomic uint32_t strays;    /* number of calls with a wrong cookie */
    _Atomic uint32_t early;     /* number of calls before mli_mov_isdone() was true */
    _Atomic uint32_t unstarted; /* number of starts by the callback that were refused */
};

/* The arguments and the results of one case. */
struct transfer {
    const struct move_case *c;
    struct flight *flight;
    struct mailbox *mailbox;
    const atomic_bool *stop; /* true: wait for channels no longer */
    uint32_t channels;       /* channels of the pool */
    uint64_t timeout_ns;
    struct failure *failure;

    mli_tensor src, dst; /* tensors whose data is allocated */
    mli_mov_handle_t handle;
    uint64_t moving_ns;   /* time from start to done */
    uint64_t starts;      /* number of starts on channels */
    uint64_t busy_claims; /* claims that were refused because too few channels were free */
    bool interrupted;     /* true: the user stopped the test; the case has no result */
};

/** Returns the mailbox of worker 0 .. MAILBOXES_MAX - 1. Static storage. */
struct mailbox *mailbox_of(uint32_t worker);

/** Moves images->src to images->dst. Returns 0, or -1 with t->failure or t->interrupted set. */
int transfer_run(struct transfer *t, const struct images *images);

#endif /* CLI_SELFTEST_TRANSFER_H */
