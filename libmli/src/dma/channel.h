/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DMA channel as the pool sees it: the work it has, how it is polled, and what it has done. What
 * several channels do together is run.h's business.
 */
#ifndef MLI_DMA_CHANNEL_H
#define MLI_DMA_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/dma/counters.h"
#include "mli_engine.h"

/* A channel, and the part of a transfer that it has, or had last. */
struct channel {
    struct mli_work work;
    struct mli_plan plan;
    struct mli_work_end end;
    uint32_t owner;           /* first channel of the claim */
    _Atomic uint32_t busy;    /* its work may be polled */
    _Atomic uint32_t polling; /* by one thread at a time, which submits what comes meanwhile */
    mli_mov_channel_stats stats;
    struct counters counters; /* *stats for other threads */
};

struct channel *channel_at(uint32_t number);
uint32_t channel_number(const struct channel *channel);

/** It has joined the pool: it has done nothing yet. */
void channel_reset(uint32_t number);

/** It will be given its plan, as a work that calls `done`. Nothing runs on it. */
void channel_begin(uint32_t number, uint32_t owner, uint32_t hints,
                   void (*done)(struct mli_work *, const struct mli_work_end *));

/** Gives the work to an engine. When it returns, work and channel may be others'. */
void channel_submit(uint32_t number, const struct mli_engine *engine);

/** Its work is done. */
void channel_end(struct channel *channel, const struct mli_work_end *end);

/** Its work, if it still has it, shall stop. */
void channel_cancel(uint32_t number);

/** Does it need polling? */
bool channel_is_polled(uint32_t number);

/** Drives it, if it is polled and nobody else is at it. Returns descriptors completed. */
uint32_t channel_poll(uint32_t number);

/** Nothing runs on it, and it leaves the pool: waits for those who still look after it. */
void channel_quiesce(uint32_t number);

/** Bytes of its work that are written so far. */
size_t channel_written(uint32_t number);

#endif /* MLI_DMA_CHANNEL_H */
