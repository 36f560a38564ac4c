/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a completion callback leaves word. There is one for each worker; the cookie names it and
 * the transfer, so that a call that comes late or twice is noticed.
 */
#ifndef CLI_SELFTEST_MAILBOX_H
#define CLI_SELFTEST_MAILBOX_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/selftest/flight.h"

/** Workers there can be. */
#define MAILBOXES_MAX 64

struct mailbox {
    sem_t called;
    uint32_t number;
    uint32_t sequence;          /* makes the next cookie another one */
    _Atomic int32_t cookie;     /* registered */
    mli_mov_handle_t *handle;   /* of the worker's */
    uint32_t chain;             /* starts that the callback makes */
    atomic_bool over;           /* it was called, and has started nothing more */
    _Atomic uint32_t calls;     /* with the right cookie */
    _Atomic uint32_t strays;    /* with another one */
    _Atomic uint32_t early;     /* before isdone was true */
    _Atomic uint32_t unstarted; /* starts of the callback that were refused */
};

/** The mailbox of worker 0 .. MAILBOXES_MAX - 1. Static storage. */
struct mailbox *mailbox_of(uint32_t worker);

/**
 * Makes it ready for another handle, of which the callback starts the transfer `chain` more times.
 * Returns the cookie that goes with mailbox_post().
 */
int32_t mailbox_open(struct mailbox *mailbox, mli_mov_handle_t *handle, uint32_t chain);

/** The callback. */
void mailbox_post(int32_t cookie);

/** To be called before each start of the worker's. */
void mailbox_rearm(struct mailbox *mailbox);

/**
 * Until the last callback has come; drives an engine that has to be polled. False where the flight
 * has expired and the transfer is done, but no callback comes.
 */
bool mailbox_await(struct mailbox *mailbox, struct flight *flight);

#endif /* CLI_SELFTEST_MAILBOX_H */
