/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DMA channel: its engine and capabilities, its work item, its polling, and its statistics. run.h
 * has what several channels do together.
 *
 * A handle that got no DMA channel has a stand-in: a channel that exists in the library only. The
 * thread that starts a transfer on a stand-in moves the data. Stand-ins have the numbers from
 * POOL_CHANNELS on.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libmli/src/dma/dma.h"
#include "mli_engine.h"

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

/* The statistics of a channel, readable from any thread while the channel works. */
struct counters {
    _Atomic uint32_t version;
    _Atomic uint32_t low[COUNTERS], high[COUNTERS];
};

/* A channel, and the part of a transfer that it moves now or moved most recently. */
struct channel {
    struct mli_work work;
    struct mli_plan plan;
    struct mli_work_end end;
    uint32_t owner;           /* first channel of the claim */
    _Atomic uint32_t busy;    /* nonzero: the engine has the work, which may be polled */
    _Atomic uint32_t polling; /* flags of channel.c, by which only one thread at a time polls */
    struct counters counters;
};

/* The capabilities of a channel that the library needs. */
struct channel_caps {
    uint32_t flags;
    size_t tiny;
};

/* Private to channel.c; the functions below read them without a call. */
extern struct channel channel_table[POOL_SLOTS];
extern const struct mli_engine *_Atomic channel_engine_word;
extern _Atomic size_t channel_sync_limit_word;
extern struct channel_caps channel_caps_table[POOL_CHANNELS];
extern const struct channel_caps channel_stand_in_caps;

static inline struct channel *channel_at(uint32_t number)
{
    return &channel_table[number];
}

static inline uint32_t channel_number(const struct channel *channel)
{
    return (uint32_t)(channel - channel_table);
}

/** Returns the engine behind the channels. */
static inline const struct mli_engine *channel_engine(void)
{
    return atomic_load_explicit(&channel_engine_word, memory_order_relaxed);
}

/**
 * Returns the size above which synchronous moves use a channel: SIZE_MAX if the engine has no
 * device: the processor then moves the data in any case.
 */
static inline size_t channel_sync_limit(void)
{
    return atomic_load_explicit(&channel_sync_limit_word, memory_order_relaxed);
}

/** Returns whether the channel with this number is a stand-in, which no engine knows. */
static inline bool channel_is_stand_in(uint32_t number)
{
    return number >= POOL_CHANNELS;
}

/** Returns the capabilities of an open channel or of a stand-in. */
static inline const struct channel_caps *channel_caps(uint32_t number)
{
    return channel_is_stand_in(number) ? &channel_stand_in_caps : &channel_caps_table[number];
}

/**
 * Puts another engine behind the channels, none of which may be open. `tiny` replaces the value of
 * the engine's channels, unless it is SIZE_MAX.
 */
void channel_set_engine(const struct mli_engine *engine, size_t tiny);

/** Opens a channel that joins the pool. Returns false if the engine cannot open it. */
bool channel_open(uint32_t number);

/** Closes a channel, which has no work item, when no thread polls it any more. */
void channel_close(uint32_t number);

/**
 * Makes the plan in channel->plan the work item of the channel, which must not have one. The work
 * item calls `done` at its end.
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

/**
 * Cleans a channel up in the child of a fork. Ends its work item with an error, unless the child
 * can poll it, and releases what threads of the parent hold of the channel.
 */
void channel_after_fork(uint32_t number);

/** Requests that the channel's work item with the number `work` stop, if it is not done. */
void channel_cancel(uint32_t number, uint32_t work);

/** Returns whether the channel makes progress only in channel_poll(). */
bool channel_is_polled(uint32_t number);

/** Polls the channel, unless another thread does. Returns the number of completed descriptors. */
uint32_t channel_poll(uint32_t number);

/** Returns the number of bytes of the channel's work that are written. */
size_t channel_written(uint32_t number);

/** Reads the channel's counters. */
void channel_read_stats(uint32_t number, mli_mov_channel_stats *stats);
