/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer on the channels of a claim: cut into a part for each, handed to the engine, and done
 * when the last part is.
 */
#ifndef MLI_DMA_RUN_H
#define MLI_DMA_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/dma/mov_calls.h"
#include "libmli/src/dma/pool.h"
#include "mli_engine.h"

enum slot_state {
    SLOT_IDLE = 0, /* nothing was started since it was prepared */
    SLOT_RUNNING,
    SLOT_AWAITED, /* running, and somebody sleeps until it is done */
    SLOT_DONE
};

/* A callback that releases its own handle goes on running beside this many owners after it. */
enum { SLOT_TERMS = 4 };

/* What outlives a claim for the threads that still wait on its handle. */
struct term {
    struct calls calls;
    _Atomic uint32_t status; /* of the claim's last transfer that is done */
};

/* The state of a claim's transfer. Words are atomic: others may look while a callback restarts. */
struct slot {
    _Atomic uint32_t generation;
    _Atomic uint32_t state;        /* enum slot_state; DONE is released after the last byte */
    _Atomic uint32_t parts;        /* on as many channels from the slot's own on */
    _Atomic uint32_t pending;      /* of them */
    _Atomic uint32_t starts;       /* transfers so far */
    struct term terms[SLOT_TERMS]; /* of the latest claims, by generation */
    /* Of the transfer that is done: */
    _Atomic uint32_t channel, descriptor;
    _Atomic size_t row, bytes;
    _Atomic uintptr_t address;
    void (*callback)(int32_t);
    int32_t cookie;
    uint32_t hints; /* of mli_mov_set_hints() */
};

/** The slot whose claim begins with a channel. */
struct slot *run_slot(uint32_t channel);

/** The slot is claimed anew or given back: nothing was started, callback and hints are cleared. */
void run_clear(struct slot *slot);

/** The transfer before the next one is history. */
void run_forget(struct slot *slot);

/** Begins a plan, which may go away. Nothing runs on the claim. */
void run_start(const struct claim *claim, const struct mli_plan *plan);

/** The slot's state, acquired: where it is DONE, the bytes are visible. AWAITED is RUNNING. */
enum slot_state run_state(struct slot *slot);

/** The same, after driving the claim's channels where they need it. */
enum slot_state run_poll(const struct claim *claim, struct slot *slot);

/** Sleeps until the claim's transfer is done. Returns its status. */
mli_status run_wait(const struct claim *claim, struct slot *slot);

/** Sleeps until the claim's callbacks that run now have returned. Not from inside a callback. */
void run_wait_for_callbacks(const struct claim *claim, struct slot *slot);

/** Sleeps until none of the claim's callbacks runs. False where a callback has restarted the
 *  transfer, which runs now. Not from inside a callback. */
bool run_settle(const struct claim *claim, struct slot *slot);

/** Asks the parts under way to stop. */
void run_cancel(const struct claim *claim, struct slot *slot);

/** Waits, and then until callbacks have returned and channels rest. */
void run_synchronise(const struct claim *claim, struct slot *slot);

/** Where the slot's transfer is: all but what only the handle knows. */
void run_status(struct slot *slot, mli_mov_status_t *status);

/** Is the calling thread inside a completion callback? */
bool run_in_callback(void);

#endif /* MLI_DMA_RUN_H */
