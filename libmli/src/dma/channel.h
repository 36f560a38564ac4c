/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DMA channel of the pool: its work, its polling, and its statistics. run.h has what several
 * channels do together.
 */
#ifndef MLI_DMA_CHANNEL_H
#define MLI_DMA_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/dma/counters.h"
#include "libmli/src/dma/pool.h"
#include "mli_engine.h"

/* A channel, and the part of a transfer that it moves now or moved most recently. */
struct channel {
    struct mli_work work;
    struct mli_plan plan;
    struct mli_work_end end;
    uint32_t owner;           /* first channel of the claim */
    _Atomic uint32_t busy;    /* nonzero: the engine has the work, which may be polled */
    _Atomic uint32_t polling; /* bits (channel.c): one thread at a time polls */
    struct counters counters;
};

/* Private to channel.c; the functions below read it without a call. */
extern struct channel channel_table[POOL_SLOTS];

static inline struct channel *channel_at(uint32_t number)
{
    return &channel_table[number];
}

static inline uint32_t channel_number(const struct channel *channel)
{
    return (uint32_t)(channel - channel_table);
}

/*
 * A cancel may be late: another thread may have ended the work item meanwhile, and started the
 * channel's next one for another owner. A cancel therefore names the work item by its number.
 */

/** Gives a work item its number, which is not 0. It is not cancelled. */
static inline void work_begin(struct mli_work *work, uint32_t number)
{
    __atomic_store_n(&work->number, number, __ATOMIC_RELAXED);
    __atomic_store_n(&work->cancelled, number - 1, __ATOMIC_SEQ_CST);
}

static inline uint32_t work_number(const struct mli_work *work)
{
    return __atomic_load_n(&work->number, __ATOMIC_RELAXED);
}

/** Cancels the work item with this number; does nothing if that one has ended. */
static inline void work_cancel(struct mli_work *work, uint32_t number)
{
    uint32_t before = number - 1;

    (void)__atomic_compare_exchange_n(&work->cancelled, &before, number, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST);
}

/** Resets the statistics of a channel that joins the pool. */
void channel_reset(uint32_t number);

/**
 * Prepares the channel for the plan in channel->plan, as a work item that calls `done`. The channel
 * has no work item.
 */
void channel_begin(uint32_t number, uint32_t owner, uint32_t hints,
                   void (*done)(struct mli_work *, const struct mli_work_end *));

/**
 * Submits the channel's work to an engine. When it returns, the work may be done and the channel
 * may have another owner.
 */
void channel_submit(uint32_t number, const struct mli_engine *engine);

/** Notes the end of the channel's work. */
void channel_end(struct channel *channel, const struct mli_work_end *end);

/** Requests that the channel's work item with the number `work` stop, if it is not done. */
void channel_cancel(uint32_t number, uint32_t work);

/** Returns whether the channel makes progress only in channel_poll(). */
bool channel_is_polled(uint32_t number);

/** Polls the channel, unless another thread does. Returns the number of completed descriptors. */
uint32_t channel_poll(uint32_t number);

/** Waits until no thread polls the channel, which has no work item and leaves the pool. */
void channel_quiesce(uint32_t number);

/** Returns the number of bytes of the channel's work that are written. */
size_t channel_written(uint32_t number);

#endif /* MLI_DMA_CHANNEL_H */
