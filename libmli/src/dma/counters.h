/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics of a channel, readable from any thread while the channel works. Atomics are 32
 * bits wide, so each 64-bit counter has two halves. A version, odd during a change, makes readers
 * read again. There is one writer at a time: a channel has one work at a time, and all its steps
 * are ordered.
 */
#ifndef MLI_DMA_COUNTERS_H
#define MLI_DMA_COUNTERS_H

#include <stdatomic.h>

#include "mli_mov_api.h"

enum { COUNTERS = sizeof(mli_mov_channel_stats) / sizeof(uint64_t) };

struct counters {
    _Atomic uint32_t version;
    _Atomic uint32_t low[COUNTERS], high[COUNTERS];
};

void counters_read(struct counters *counters, mli_mov_channel_stats *stats);
void counters_write(struct counters *counters, const mli_mov_channel_stats *stats);

#endif /* MLI_DMA_COUNTERS_H */
