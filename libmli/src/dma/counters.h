/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics of a channel, readable from any thread while the channel works. Atomics are 32
 * bits wide, so each 64-bit counter has two halves. A version, odd during a change, makes readers
 * read again. There is one writer at a time: a channel has one work item at a time, and all its
 * steps are ordered.
 */
#ifndef MLI_DMA_COUNTERS_H
#define MLI_DMA_COUNTERS_H

#include <stdatomic.h>

#include "mli_mov_api.h"

/* The counters, in the order of mli_mov_channel_stats. */
enum counter {
    COUNTER_SUBMITTED,
    COUNTER_COMPLETED,
    COUNTER_FAILED,
    COUNTER_CANCELLED,
    COUNTER_BYTES,
    COUNTER_ROWS,
    COUNTER_BUSY_NS,
    COUNTER_QUEUE_HIGH_WATER,
    COUNTER_CPU_PIECES,
    COUNTER_CPU_BYTES,
    COUNTERS
};

struct counters {
    _Atomic uint32_t version;
    _Atomic uint32_t low[COUNTERS], high[COUNTERS];
};

void counters_read(struct counters *counters, mli_mov_channel_stats *stats);

/** Sets all counters to 0. */
void counters_reset(struct counters *counters);

/*
 * The functions below are inline because each transfer calls them. Stores have release order and
 * the loads of counters_read() have acquire order, so that no access moves across the accesses to
 * the version: a reader that sees half of a new value also sees the version it was written under.
 */

/** Begins a change: counters may be set until counters_end(). */
static inline void counters_begin(struct counters *counters)
{
    const uint32_t version = atomic_load_explicit(&counters->version, memory_order_relaxed);

    atomic_store_explicit(&counters->version, version + 1, memory_order_relaxed);
}

static inline void counters_end(struct counters *counters)
{
    const uint32_t version = atomic_load_explicit(&counters->version, memory_order_relaxed);

    atomic_store_explicit(&counters->version, version + 1, memory_order_release);
}

/** Returns the value of a counter, for the thread that changes it. */
static inline uint64_t counters_get(const struct counters *counters, enum counter which)
{
    return atomic_load_explicit(&counters->low[which], memory_order_relaxed) |
           (uint64_t)atomic_load_explicit(&counters->high[which], memory_order_relaxed) << 32;
}

static inline void counters_set(struct counters *counters, enum counter which, uint64_t value)
{
    atomic_store_explicit(&counters->low[which], (uint32_t)value, memory_order_release);
    atomic_store_explicit(&counters->high[which], (uint32_t)(value >> 32), memory_order_release);
}

static inline void counters_add(struct counters *counters, enum counter which, uint64_t value)
{
    counters_set(counters, which, counters_get(counters, which) + value);
}

#endif /* MLI_DMA_COUNTERS_H */
