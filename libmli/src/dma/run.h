/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer on the channels of a claim: run_start() splits the plan into a part for each channel
 * and submits the parts to the engine. The transfer is done when the last part is.
 *
 * A claim is a run of neighbouring channels (pool.h). The slot of its first channel holds the state
 * of its transfer, so that a running transfer accesses none of the caller's memory except tensor
 * data.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/dma/dma.h"
#include "mli_engine.h"

struct claim {
    uint32_t first, count, generation;
};

enum slot_state {
    SLOT_IDLE = 0, /* no transfer was started since the last prepare */
    SLOT_RUNNING,
    SLOT_AWAITED, /* running, and a thread sleeps until it is done */
    SLOT_DONE
};

/*
 * A slot remembers its last owners, this many: a callback may release its own handle and go on,
 * while later owners use the slot.
 */
enum { SLOT_TERMS = 4 };

/* The state of a claim that threads still need after its release, while they wait on its handle. */
struct term {
    _Atomic uint32_t callbacks; /* the callbacks that run now; run.c describes the bits */
    _Atomic uint32_t status;    /* status of the claim's last completed transfer */
};

/*
 * The state of a claim's transfer. The words are atomic: other threads may read them while a
 * callback restarts the transfer.
 */
struct slot {
    _Atomic uint32_t generation;
    _Atomic uint32_t state;   /* enum slot_state; DONE is stored (release) after the last byte */
    _Atomic uint32_t parts;   /* number of parts; part i is on the i-th channel after the slot's */
    _Atomic uint32_t pending; /* parts that are not done */
    _Atomic uint32_t starts;  /* number of transfers started, the current transfer included */
    struct term terms[SLOT_TERMS]; /* the latest owners; the generation gives the index */
    /* Valid when the transfer is done: */
    _Atomic uint32_t channel, descriptor;
    _Atomic size_t row, bytes;
    _Atomic uintptr_t address;
    void (*callback)(int32_t);
    int32_t cookie;
    uint32_t hints; /* hints of mli_mov_set_hints() */
};

/* Private to run.c; the function below reads it without a call. */
extern struct slot run_slots[POOL_SLOTS];

/** Returns the slot of the claims that begin with `channel`. */
static inline struct slot *run_slot(uint32_t channel)
{
    return &run_slots[channel];
}

/** Returns the claim's slot, or null if the claim is stale or was never made. */
struct slot *run_slot_of(const struct claim *claim);

/** Resets the slot for a new owner: no transfer started, no callback, no hints. */
void run_clear(struct slot *slot);

/** Resets the state after a prepare: the previous transfer no longer counts. */
void run_forget(struct slot *slot);

/**
 * Starts a transfer. The claim has no running transfer. `plan` points at a struct mli_plan, which
 * may be misaligned, and may be freed afterwards.
 */
void run_start(const struct claim *claim, const void *plan);

/**
 * Returns the slot's state with acquire order: if it is DONE, the bytes are visible. Returns
 * RUNNING for AWAITED.
 */
static inline enum slot_state run_state(struct slot *slot)
{
    const uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

    return state == SLOT_AWAITED ? SLOT_RUNNING : (enum slot_state)state;
}

/** Polls those channels of the claim that need polling, and returns the slot's state. */
enum slot_state run_poll(const struct claim *claim, struct slot *slot);

/** Sleeps until the claim's transfer is done. Returns its status. */
mli_status run_wait(const struct claim *claim, struct slot *slot);

/**
 * Sleeps until the claim's callbacks that run now have returned. Do not call it inside a callback.
 */
void run_wait_for_callbacks(const struct claim *claim, struct slot *slot);

/**
 * Sleeps until no callback of the claim runs. Returns false if a callback has restarted the
 * transfer, which is running now. Do not call it inside a callback.
 */
bool run_settle(const struct claim *claim, struct slot *slot);

/** Makes the library notice forks. Call it before the first claim. */
void run_watch_forks(void);

/* Private to run.c: the count of run_forks(). */
uint32_t run_count_forks(void);

/**
 * Returns the number of forks from the process that loaded the library to this process. The first
 * call in the child of a fork ends the transfers of the parent with an error, because no thread of
 * the child continues them, and calls no callback. run_slot_of() calls this function.
 */
static inline uint32_t run_forks(void)
{
    return ENGINE_HAS_THREADS ? run_count_forks() : 0;
}

/** Asks the channels to stop all parts of the transfer that are not done. */
void run_cancel(const struct claim *claim, struct slot *slot);

/**
 * Sleeps until the transfer and its restarts are done, callbacks have returned, and the channels
 * are idle.
 */
void run_synchronise(const struct claim *claim, struct slot *slot);

/** Fills the fields of *status that the slot knows; the caller fills the rest from the handle. */
void run_status(struct slot *slot, mli_mov_status_t *status);

/** Returns whether the calling thread is inside a completion callback. */
bool run_in_callback(void);
