/* SPDX-License-Identifier: BSD-3-Clause */
#include "pool.h"

#include <stddef.h>

#include "../error.h"
#include "engine.h"
#include "park.h"

/* Low half: free channels. High half: channels that are the library's. */
static _Atomic uint32_t channels;

static struct slot slots[MLI_MOV_MAX_CHANNELS];
static const struct engine *const engine = &engine_inline;
static MLI_THREAD_LOCAL bool in_callback;

_Static_assert(MLI_MOV_MAX_CHANNELS <= 16, "two masks share 32 bits");

/* Written out: what compilers call for it is no part of a freestanding library. */
static uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static uint32_t run_mask(uint32_t first, uint32_t count)
{
    return ((1u << count) - 1) << first;
}

mli_status pool_resize(int offset, int count)
{
    uint32_t now = atomic_load(&channels);
    uint32_t mask;

    if (offset < 0 || count < 0 || (uint32_t)offset > engine->channels ||
        (uint32_t)count > engine->channels - (uint32_t)offset)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "ch_offset",
                      ": channels % to % given, the engine has 0 to %", offset,
                      (int64_t)offset + count - 1, engine->channels - 1);
    mask = run_mask((uint32_t)offset, (uint32_t)count);
    do {
        if ((now >> 16) != (now & 0xffff))
            return refuse(MLI_STATUS_ARGUMENT_ERROR, "num_ch",
                          ": % channels are still out with handles, release them first",
                          count_bits((now >> 16) & ~now));
    } while (!atomic_compare_exchange_weak(&channels, &now, mask << 16 | mask));
    return MLI_STATUS_OK;
}

/* First channel of a run of `count` free ones; the pool's size where there is none. */
static uint32_t find_run(uint32_t free_mask, uint32_t count)
{
    for (uint32_t first = 0; first + count <= MLI_MOV_MAX_CHANNELS; first++) {
        const uint32_t mask = run_mask(first, count);

        if ((free_mask & mask) == mask)
            return first;
    }
    return MLI_MOV_MAX_CHANNELS;
}

mli_status pool_claim(int count, struct claim *claim)
{
    uint32_t now = atomic_load(&channels);
    uint32_t first, mask;

    if (count < 1 || count > MLI_MOV_MAX_CHANNELS)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "num_ch", ": % given, 1 to % needed", count,
                      MLI_MOV_MAX_CHANNELS);
    do {
        first = find_run(now & 0xffff, (uint32_t)count);
        if (first == MLI_MOV_MAX_CHANNELS)
            return refuse(MLI_STATUS_NOT_ENGH_MEM, "num_ch",
                          ": no run of % free channels, % of % are free", count,
                          count_bits(now & 0xffff), count_bits(now >> 16));
        mask = run_mask(first, (uint32_t)count);
    } while (!atomic_compare_exchange_weak(&channels, &now, now & ~mask));

    claim->first = first;
    claim->count = (uint32_t)count;
    claim->generation = atomic_fetch_add(&slots[first].generation, 1) + 1;
    return MLI_STATUS_OK;
}

bool pool_release(const struct claim *claim)
{
    struct slot *slot = &slots[claim->first];
    uint32_t generation = claim->generation;

    if (!atomic_compare_exchange_strong(&slot->generation, &generation, generation + 1))
        return false;
    slot->callback = NULL;
    atomic_store(&slot->state, SLOT_IDLE);
    atomic_fetch_or(&channels, run_mask(claim->first, claim->count));
    return true;
}

struct slot *pool_slot(const struct claim *claim)
{
    struct slot *slot;

    if (claim->first >= MLI_MOV_MAX_CHANNELS || claim->generation % 2 == 0)
        return NULL;
    slot = &slots[claim->first];
    return atomic_load(&slot->generation) == claim->generation ? slot : NULL;
}

void pool_start(const struct claim *claim)
{
    struct slot *slot = &slots[claim->first];

    atomic_store(&slot->state, SLOT_RUNNING);
    engine->submit(claim->first, claim->count, &slot->plan);
}

enum slot_state pool_state(struct slot *slot)
{
    const uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

    return state == SLOT_AWAITED ? SLOT_RUNNING : (enum slot_state)state;
}

bool pool_sleep(struct slot *slot)
{
    uint32_t running = SLOT_RUNNING;

    while (pool_state(slot) == SLOT_RUNNING) {
        /* Says that a wake-up is wanted; one who came before has said so already. */
        atomic_compare_exchange_strong(&slot->state, &running, SLOT_AWAITED);
        running = SLOT_RUNNING;
        if (!park(&slot->state, SLOT_AWAITED))
            return false;
    }
    return true;
}

void engine_done(uint32_t first, mli_status status)
{
    struct slot *slot = &slots[first];
    void (*callback)(int32_t) = slot->callback;
    const int32_t cookie = slot->cookie;

    /* From the exchange on the owner may start again or release: the callback is taken before. */
    slot->status = status;
    if (atomic_exchange_explicit(&slot->state, SLOT_DONE, memory_order_acq_rel) == SLOT_AWAITED)
        unpark(&slot->state);
    if (callback) {
        in_callback = true;
        callback(cookie);
        in_callback = false;
    }
}

bool pool_in_callback(void)
{
    return in_callback;
}

const char *mli_mov_engine_name(void)
{
    return engine->name;
}
