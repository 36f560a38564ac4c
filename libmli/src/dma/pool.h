/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel pool: the channels that the library may use, and their owners. A claim is a run of
 * neighbouring channels. The slot of its first channel holds the state of its transfer (run.h), so
 * that a running transfer accesses none of the caller's memory except tensor data.
 *
 * No locks: one atomic word has a bit for each channel of the pool and a bit for each free channel,
 * and a claim's generation (odd while claimed, even while free) distinguishes its owner from
 * earlier ones.
 *
 * A handle without channels has a stand-in: a slot with a number from POOL_CHANNELS on,
 * which engines do not know. The thread that starts its transfer moves the data.
 */
#ifndef MLI_DMA_POOL_H
#define MLI_DMA_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/build.h"
#include "mli_engine.h"

/* Channels, handles without channels at a time, and number of slots. */
#define POOL_CHANNELS  (MLI_CHANNELS > 0 ? MLI_CHANNELS : 1)
#define POOL_STAND_INS MLI_CPU_HANDLES
#define POOL_SLOTS     (POOL_CHANNELS + POOL_STAND_INS)

struct slot;

/* The capabilities of a channel that the pool needs. */
struct pool_caps {
    uint32_t flags;
    size_t tiny;
};

struct claim {
    uint32_t first, count, generation;
};

/** Replaces the channels of the pool. Returns the statuses of mli_mov_set_num_dma_ch(). */
mli_status pool_resize(int offset, int count);

/** Locks the pool against other threads. Refuses if it has channels. */
mli_status pool_lock_empty(void);

/**
 * Unlocks the pool, with another engine behind it unless `engine` is null. `tiny` replaces the
 * value of the engine's channels, unless it is SIZE_MAX.
 */
void pool_unlock_empty(const struct mli_engine *engine, size_t tiny);

/* Private to pool.c; the functions below read them without a call. */
extern const struct mli_engine *_Atomic pool_engine_word;
extern _Atomic size_t pool_sync_limit_word;
extern struct pool_caps pool_channel_caps[POOL_CHANNELS];
extern const struct pool_caps pool_stand_in_caps;

/** Returns the engine behind the pool. */
static inline const struct mli_engine *pool_engine(void)
{
    return atomic_load_explicit(&pool_engine_word, memory_order_relaxed);
}

/**
 * Returns the size above which synchronous moves use a channel: SIZE_MAX if the engine's channels
 * are the processor, which moves in any case.
 */
static inline size_t pool_sync_limit(void)
{
    return atomic_load_explicit(&pool_sync_limit_word, memory_order_relaxed);
}

/** Returns whether the number belongs to a stand-in; do not pass it to an engine. */
static inline bool pool_is_stand_in(uint32_t channel)
{
    return channel >= POOL_CHANNELS;
}

/** Returns whether the channel is in the pool. */
bool pool_has(uint32_t channel);

/** Returns the capabilities of a channel of the pool or of a stand-in. */
static inline const struct pool_caps *pool_caps(uint32_t channel)
{
    return pool_is_stand_in(channel) ? &pool_stand_in_caps : &pool_channel_caps[channel];
}

/** Claims any `count` neighbouring channels. Returns the statuses of mli_mov_acquire_handle(). */
mli_status pool_claim(int count, struct claim *claim);

/** Claims the channels from `first` on. Returns the statuses of mli_mov_acquire_handle_at(). */
mli_status pool_claim_at(int first, int count, struct claim *claim);

/**
 * Claims a single channel for a synchronous move. Returns false, without an error text, if none is
 * free.
 */
bool pool_try_claim(struct claim *claim);

/** Gives the channels back. Returns false if another thread has released the claim already. */
bool pool_release(const struct claim *claim);

/** Returns the claim's slot, or null if the claim is stale or was never made. */
struct slot *pool_slot(const struct claim *claim);

#endif /* MLI_DMA_POOL_H */
