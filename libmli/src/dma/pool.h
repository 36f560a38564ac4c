/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel pool: which channels are the library's, who has them, and the transfer that runs on
 * them. A claim is a run of neighbouring channels; the slot of its first channel holds its state,
 * so that nothing of the caller's memory but tensor data is touched while a transfer runs.
 *
 * No locks: one atomic word says which channels exist and which are free, and a claim's generation
 * (odd while claimed, even while free) tells its owner from former ones.
 */
#ifndef MLI_DMA_POOL_H
#define MLI_DMA_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../plan.h"
#include "mli_mov_api.h"

enum slot_state {
    SLOT_IDLE = 0, /* nothing was started since it was prepared */
    SLOT_RUNNING,
    SLOT_AWAITED, /* running, and somebody sleeps until it is done */
    SLOT_DONE
};

struct slot {
    _Atomic uint32_t generation;
    _Atomic uint32_t state; /* enum slot_state; DONE is released after the last byte */
    mli_status status;      /* of the transfer that is done */
    void (*callback)(int32_t);
    int32_t cookie;
    struct plan plan; /* of the transfer that runs */
};

struct claim {
    uint32_t first, count, generation;
};

/** Statuses as mli_mov_set_num_dma_ch(). */
mli_status pool_resize(int offset, int count);

/** Statuses as mli_mov_acquire_handle(). */
mli_status pool_claim(int count, struct claim *claim);

/** Gives the channels back; false where another thread was faster. */
bool pool_release(const struct claim *claim);

/** The claim's slot, or null where the claim is stale or was never made. */
struct slot *pool_slot(const struct claim *claim);

/** Begins slot->plan. */
void pool_start(const struct claim *claim);

/** The slot's state, acquired: where it is DONE, the bytes are visible. AWAITED is RUNNING. */
enum slot_state pool_state(struct slot *slot);

/** Sleeps until the slot is not running any more. False where this build cannot sleep. */
bool pool_sleep(struct slot *slot);

/** Is the calling thread inside a completion callback? */
bool pool_in_callback(void);

#endif /* MLI_DMA_POOL_H */
