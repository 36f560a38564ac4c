/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel pool: the channels that the library may use, and their owners.
 *
 * No locks: one atomic word has a bit for each channel of the pool and a bit for each free channel,
 * and a claim's generation (odd while claimed, even while free) distinguishes its owner from
 * earlier ones.
 */
#pragma once

#include "libmli/src/dma/run.h"

/** Locks the pool against other threads. Refuses if it has channels. */
mli_status pool_lock_empty(void);

/** Unlocks the pool. */
void pool_unlock_empty(void);

/**
 * Refuses a call with the engine's reason for its last failure, which follows the word "engine".
 * Returns false, and refuses nothing, if the engine gives no reason.
 */
bool pool_refuse_with_reason(const struct mli_engine *engine, mli_status status);

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
