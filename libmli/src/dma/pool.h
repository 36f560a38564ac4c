/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel pool: which channels are the library's, and who has them. A claim is a run of
 * neighbouring channels; the slot of its first channel holds the state of its transfer (run.h), so
 * that nothing of the caller's memory but tensor data is touched while a transfer runs.
 *
 * No locks: one atomic word says which channels exist and which are free, and a claim's generation
 * (odd while claimed, even while free) tells its owner from former ones.
 *
 * A handle without channels has a stand-in: a slot with a number from MLI_MOV_MAX_CHANNELS on,
 * which engines do not know. The thread that starts its transfer moves the data.
 */
#ifndef MLI_DMA_POOL_H
#define MLI_DMA_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mli_engine.h"

/* Handles without channels at a time, and slots in all. */
#define POOL_STAND_INS 16
#define POOL_SLOTS     (MLI_MOV_MAX_CHANNELS + POOL_STAND_INS)

struct slot;

struct claim {
    uint32_t first, count, generation;
};

/** Statuses as mli_mov_set_num_dma_ch(). */
mli_status pool_resize(int offset, int count);

/** Keeps everybody else out of an empty pool, or refuses. */
mli_status pool_lock_empty(void);

/**
 * Ends that, with another engine behind the pool unless it is null. `tiny` replaces what its
 * channels say of themselves, unless it is SIZE_MAX.
 */
void pool_unlock_empty(const struct mli_engine *engine, size_t tiny);

/** The engine behind the pool. */
const struct mli_engine *pool_engine(void);

/* The pool's own; what follows reads it without a call. */
extern _Atomic size_t pool_sync_limit_word;

/**
 * Synchronous moves of more bytes than this are for a channel: SIZE_MAX where it is the processor
 * that moves in the end, whoever asks.
 */
static inline size_t pool_sync_limit(void)
{
    return atomic_load_explicit(&pool_sync_limit_word, memory_order_relaxed);
}

/** Returns whether the number belongs to a stand-in; do not pass it to an engine. */
static inline bool pool_is_stand_in(uint32_t channel)
{
    return channel >= MLI_MOV_MAX_CHANNELS;
}

/** Is the channel in the pool? */
bool pool_has(uint32_t channel);

/** Returns the capabilities of a channel of the pool or of a stand-in. */
const struct mli_channel_caps *pool_caps(uint32_t channel);

/** Statuses as mli_mov_acquire_handle(). */
mli_status pool_claim(int count, struct claim *claim);

/** Statuses as mli_mov_acquire_handle_at(). */
mli_status pool_claim_at(int first, int count, struct claim *claim);

/** A single channel for a synchronous move; false, without a word, where none is free. */
bool pool_try_claim(struct claim *claim);

/** Gives the channels back; false where another thread was faster. */
bool pool_release(const struct claim *claim);

/** The claim's slot, or null where the claim is stale or was never made. */
struct slot *pool_slot(const struct claim *claim);

#endif /* MLI_DMA_POOL_H */
