/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/channel.h"

#include <stddef.h>

#include "libmli/src/dma/clock.h"
#include "libmli/src/dma/platform.h"
#include "libmli/src/error.h"
#include "libmli/src/plan.h"

enum {
    POLL_BUDGET = 16,
    QUIET_PAUSE_NS = 50 * 1000,
    /*
     * Bits of channel->polling: a thread or interrupt is inside poll or submit of the channel;
     * before it leaves, it must submit the work, or poll once more.
     */
    POLLING = 1,
    SUBMIT_WANTED = 2,
    POLL_WANTED = 4
};

struct channel channel_table[POOL_SLOTS];

void channel_reset(uint32_t number)
{
    counters_reset(&channel_table[number].counters);
}

static uint64_t count_rows(const struct mli_plan *plan)
{
    uint64_t rows = plan->box.run > 0 ? box_rows(&plan->box) : 0;

    for (size_t i = 0; i < plan->slabs; i++)
        rows += slab_rows(&plan->slab[i]);
    return rows;
}

static void count_submitted(struct channel *channel)
{
    const uint64_t descriptors = channel->plan.slabs + (channel->plan.box.run > 0);
    struct counters *counters = &channel->counters;

    counters_begin(counters);
    counters_add(counters, COUNTER_SUBMITTED, 1);
    if (counters_get(counters, COUNTER_QUEUE_HIGH_WATER) < descriptors)
        counters_set(counters, COUNTER_QUEUE_HIGH_WATER, descriptors);
    counters_end(counters);
}

static void count_done(struct channel *channel, const struct mli_work_end *end)
{
    struct counters *counters = &channel->counters;

    counters_begin(counters);
    if (end->status == MLI_STATUS_OK) {
        counters_add(counters, COUNTER_COMPLETED, 1);
        counters_add(counters, COUNTER_ROWS, count_rows(&channel->plan));
    } else if (end->status == MLI_STATUS_CANCELLED) {
        counters_add(counters, COUNTER_CANCELLED, 1);
    } else {
        counters_add(counters, COUNTER_FAILED, 1);
    }
    counters_add(counters, COUNTER_BYTES, end->bytes);
    counters_add(counters, COUNTER_BUSY_NS, end->busy_ns);
    if (channel->work.cpu_pieces > 0) {
        counters_add(counters, COUNTER_CPU_PIECES, channel->work.cpu_pieces);
        counters_add(counters, COUNTER_CPU_BYTES, channel->work.cpu_bytes);
    }
    counters_end(counters);
}

/* Returns the number of the channel's next work item. */
static uint32_t next_number(const struct channel *channel)
{
    const uint32_t next = work_number(&channel->work) + 1;

    return next ? next : 1;
}

void channel_begin(uint32_t number, uint32_t owner, uint32_t hints,
                   void (*done)(struct mli_work *, const struct mli_work_end *))
{
    struct channel *channel = &channel_table[number];

    channel->owner = owner;
    channel->work.plan = &channel->plan;
    channel->work.done = done;
    channel->work.hints = hints;
    channel->work.cpu_pieces = 0;
    channel->work.cpu_bytes = 0;
    __atomic_store_n(&channel->work.written, 0, __ATOMIC_RELAXED);
    work_begin(&channel->work, next_number(channel));
    count_submitted(channel);
}

void channel_end(struct channel *channel, const struct mli_work_end *end)
{
    channel->end = *end;
    if (end->status == MLI_STATUS_OK)
        channel->end.bytes = channel->plan.bytes;
    /*
     * The engine reports descriptor 0 for a work item stopped before its first row, also if the
     * plan has no copy.
     */
    if (end->descriptor == 0 && channel->plan.box.run == 0) {
        channel->end.descriptor = 1;
        channel->end.row = 0;
    }
    count_done(channel, &channel->end);
    atomic_store_explicit(&channel->busy, 0, memory_order_relaxed);
}

void channel_cancel(uint32_t number, uint32_t work)
{
    work_cancel(&channel_table[number].work, work);
    if (pool_is_stand_in(number))
        return;
    if (pool_engine()->cancel)
        pool_engine()->cancel(number);
    if (pool_caps(number)->flags & MLI_CHANNEL_INTERRUPT)
        mli_mov_interrupt(number); /* poll sees that the work is cancelled */
}

bool channel_is_polled(uint32_t number)
{
    return pool_caps(number)->flags & MLI_CHANNEL_POLLED;
}

/* Returns whether the pool orders the calls of submit and poll for the channel. */
static bool is_driven(uint32_t number)
{
    return pool_caps(number)->flags & (MLI_CHANNEL_POLLED | MLI_CHANNEL_INTERRUPT);
}

/* Polls the channel if it has a work item. Returns the number of completed descriptors. */
static uint32_t poll_engine(uint32_t number)
{
    if (!atomic_load_explicit(&channel_table[number].busy, memory_order_relaxed))
        return 0;
    return pool_engine()->poll(number, POLL_BUDGET);
}

/*
 * Stops polling, and first does what another thread or an interrupt has asked for meanwhile. The
 * engine cannot change: a channel is claimed. Returns the number of completed descriptors.
 */
static uint32_t leave(uint32_t number)
{
    struct channel *channel = &channel_table[number];
    uint32_t polling = POLLING, completed = 0;

    while (!atomic_compare_exchange_strong_explicit(&channel->polling, &polling, 0,
                                                    memory_order_release, memory_order_relaxed)) {
        polling = atomic_fetch_and_explicit(
            &channel->polling, ~(uint32_t)(SUBMIT_WANTED | POLL_WANTED), memory_order_acquire);
        if (polling & SUBMIT_WANTED) {
            atomic_store_explicit(&channel->busy, 1, memory_order_relaxed);
            pool_engine()->submit(number, &channel->work);
        }
        if (polling & POLL_WANTED)
            completed += poll_engine(number);
        polling = POLLING;
    }
    return completed;
}

/*
 * Submits the work, or leaves that to the thread that polls the channel: another thread, or this
 * one in a calling function.
 */
static void submit_driven(uint32_t number)
{
    const uint32_t polling = atomic_fetch_or_explicit(
        &channel_table[number].polling, POLLING | SUBMIT_WANTED, memory_order_acq_rel);

    if (!(polling & POLLING))
        (void)leave(number);
}

void channel_submit(uint32_t number, const struct mli_engine *engine)
{
    if (is_driven(number) && engine == pool_engine())
        submit_driven(number);
    else
        engine->submit(number, &channel_table[number].work);
}

uint32_t channel_poll(uint32_t number)
{
    struct channel *channel = &channel_table[number];
    uint32_t completed;

    if (atomic_fetch_or_explicit(&channel->polling, POLLING, memory_order_acquire) & POLLING)
        return 0; /* another thread polls, or this thread does in a calling function */
    completed = poll_engine(number);
    return completed + leave(number);
}

void mli_mov_interrupt(uint32_t number)
{
    if (number >= POOL_CHANNELS)
        return;
    if (!(atomic_fetch_or_explicit(&channel_table[number].polling, POLLING | POLL_WANTED,
                                   memory_order_acq_rel) &
          POLLING))
        (void)leave(number);
}

void mli_channel_again(uint32_t number)
{
    if (number >= POOL_CHANNELS || !(pool_caps(number)->flags & MLI_CHANNEL_INTERRUPT))
        return;
    if (!platform_pend(number))
        atomic_fetch_or_explicit(&channel_table[number].polling, POLL_WANTED, memory_order_relaxed);
}

/*
 * Waits for POLLING alone: a driver that a test calls directly may have set POLL_WANTED, which no
 * poll will clear.
 */
void channel_quiesce(uint32_t number)
{
    while (atomic_load_explicit(&channel_table[number].polling, memory_order_acquire) & POLLING)
        clock_sleep(QUIET_PAUSE_NS);
}

size_t channel_written(uint32_t number)
{
    return __atomic_load_n(&channel_table[number].work.written, __ATOMIC_RELAXED);
}

bool mli_work_cancelled(const struct mli_work *work)
{
    const uint32_t cancelled = __atomic_load_n(&work->cancelled, __ATOMIC_SEQ_CST);

    return cancelled != 0 && cancelled == work_number(work);
}

void mli_work_progress(struct mli_work *work, size_t bytes)
{
    __atomic_store_n(&work->written, bytes, __ATOMIC_RELAXED);
}

/* Not inline: the capabilities must not be on the stack of the poll. */
static __attribute__((noinline)) uint32_t engine_flags(void)
{
    struct mli_channel_caps caps;

    mli_mov_engine_caps(&caps);
    return caps.flags;
}

bool mli_mov_is_polled(void)
{
    return engine_flags() & MLI_CHANNEL_POLLED;
}

uint32_t mli_mov_poll(void)
{
    uint32_t completed = 0;

    if (!(engine_flags() & (MLI_CHANNEL_POLLED | MLI_CHANNEL_INTERRUPT)))
        return 0;
    for (uint32_t i = 0; i < POOL_CHANNELS; i++)
        completed += channel_poll(i);
    return completed;
}

mli_status mli_mov_get_channel_stats(int channel, mli_mov_channel_stats *stats)
{
    if (channel < 0 || channel >= POOL_CHANNELS)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "channel", ": % given; must be 0 to %", channel,
                      POOL_CHANNELS - 1);
    if (!stats)
        return refuse(MLI_STATUS_ARGUMENT_ERROR, "stats", ": null given");
    counters_read(&channel_table[channel].counters, stats);
    if (pool_has((uint32_t)channel) && pool_engine()->stats)
        pool_engine()->stats((uint32_t)channel, stats);
    return MLI_STATUS_OK;
}
