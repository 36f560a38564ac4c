/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/counters.h"

#include <stddef.h>

#include "libmli/src/builtins.h"

#define IN_ORDER(which, member)                                                                    \
    _Static_assert(offsetof(mli_mov_channel_stats, member) == (which) * sizeof(uint64_t), #member)

IN_ORDER(COUNTER_SUBMITTED, submitted);
IN_ORDER(COUNTER_COMPLETED, completed);
IN_ORDER(COUNTER_FAILED, failed);
IN_ORDER(COUNTER_CANCELLED, cancelled);
IN_ORDER(COUNTER_BYTES, bytes);
IN_ORDER(COUNTER_ROWS, rows);
IN_ORDER(COUNTER_BUSY_NS, busy_ns);
IN_ORDER(COUNTER_QUEUE_HIGH_WATER, queue_high_water);
IN_ORDER(COUNTER_CPU_PIECES, cpu_pieces);
IN_ORDER(COUNTER_CPU_BYTES, cpu_bytes);
_Static_assert(sizeof(mli_mov_channel_stats) == COUNTERS * sizeof(uint64_t), "counters only");

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

void counters_reset(struct counters *counters)
{
    counters_begin(counters);
    for (enum counter i = 0; i < COUNTERS; i++)
        counters_set(counters, i, 0);
    counters_end(counters);
}
