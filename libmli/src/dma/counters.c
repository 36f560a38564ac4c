/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/counters.h"

#include "libmli/src/bytes.h"

_Static_assert(sizeof(mli_mov_channel_stats) == COUNTERS * sizeof(uint64_t), "counters only");

/*
 * Loads have acquire order and stores have release order, so that no access moves across the
 * accesses to the version: a reader that sees half of a new value also sees the version it was
 * written under.
 */
void counters_read(struct counters *counters, mli_mov_channel_stats *stats)
{
    uint64_t value[COUNTERS];
    uint32_t version;

    do {
        version = atomic_load_explicit(&counters->version, memory_order_acquire);
        for (int i = 0; i < COUNTERS; i++)
            value[i] = atomic_load_explicit(&counters->low[i], memory_order_acquire) |
                       (uint64_t)atomic_load_explicit(&counters->high[i], memory_order_acquire)
                           << 32;
    } while (version % 2 != 0 ||
             atomic_load_explicit(&counters->version, memory_order_relaxed) != version);
    copy_bytes(stats, value, sizeof(*stats));
}

void counters_write(struct counters *counters, const mli_mov_channel_stats *stats)
{
    const uint32_t version = atomic_load_explicit(&counters->version, memory_order_relaxed);
    uint64_t value[COUNTERS];

    copy_bytes(value, stats, sizeof(value));
    atomic_store_explicit(&counters->version, version + 1, memory_order_relaxed);
    for (int i = 0; i < COUNTERS; i++) {
        atomic_store_explicit(&counters->low[i], (uint32_t)value[i], memory_order_release);
        atomic_store_explicit(&counters->high[i], (uint32_t)(value[i] >> 32), memory_order_release);
    }
    atomic_store_explicit(&counters->version, version + 2, memory_order_release);
}
