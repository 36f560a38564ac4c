/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/channel.h"

#include <stddef.h>

#include "libmli/src/builtins.h"
#include "libmli/src/dma/dma.h"
#include "libmli/src/dma/os.h"
#include "libmli/src/error.h"
#include "libmli/src/plan.h"

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

/*
 * Atomics are 32 bits wide, so each 64-bit counter has two halves. A version, odd during a change,
 * makes readers read again. There is one writer at a time: a channel has one work item at a time,
 * and all its steps are ordered. Stores have release order and the loads of counters_read() have
 * acquire order, so that no access moves across the accesses to the version: a reader that sees
 * half of a new value also sees the version it was written under.
 */

/* Begins a change: counters may be set until counters_end(). */
static void counters_begin(struct counters *counters)
{
    const uint32_t version = atomic_load_explicit(&counters->version, memory_order_relaxed);

    atomic_store_explicit(&counters->version, version + 1, memory_order_relaxed);
}

static void counters_end(struct counters *counters)
{
    const uint32_t version = atomic_load_explicit(&counters->version, memory_order_relaxed);

    atomic_store_explicit(&counters->version, version + 1, memory_order_release);
}

/* Returns the value of a counter, for the thread that changes it. */
static uint64_t counters_get(const struct counters *counters, enum counter which)
{
    return atomic_load_explicit(&counters->low[which], memory_order_relaxed) |
           (uint64_t)atomic_load_explicit(&counters->high[which], memory_order_relaxed) << 32;
}

static void counters_set(struct counters *counters, enum counter which, uint64_t value)
{
    atomic_store_explicit(&counters->low[which], (uint32_t)value, memory_order_release);
    atomic_store_explicit(&counters->high[which], (uint32_t)(value >> 32), memory_order_release);
}

static void counters_add(struct counters *counters, enum counter which, uint64_t value)
{
    counters_set(counters, which, counters_get(counters, which) + value);
}

static void counters_read(struct counters *counters, mli_mov_channel_stats *stats)
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

static void counters_reset(struct counters *counters)
{
    counters_begin(counters);
    for (enum counter i = 0; i < COUNTERS; i++)
        counters_set(counters, i, 0);
    counters_end(counters);
}

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
const struct mli_engine *_Atomic channel_engine_word = &ENGINE_DEFAULT;
_Atomic size_t channel_sync_limit_word = SIZE_MAX;
struct channel_caps channel_caps_table[POOL_CHANNELS];
const struct channel_caps channel_stand_in_caps = {.flags = MLI_CHANNEL_CPU, .tiny = SIZE_MAX};

static size_t tiny = SIZE_MAX; /* SIZE_MAX: use the value of the engine's channels */

static void read_caps(uint32_t number, struct mli_channel_caps *caps)
{
    zero_bytes(caps, sizeof(*caps));
    channel_engine()->caps(number, caps);
    if (tiny != SIZE_MAX)
        caps->tiny = tiny;
}

static struct channel_caps caps_of(uint32_t number)
{
    struct mli_channel_caps caps;

    read_caps(number, &caps);
    return (struct channel_caps){caps.flags, caps.tiny};
}

void mli_mov_engine_caps(struct mli_channel_caps *caps)
{
    read_caps(0, caps);
}

void channel_set_engine(const struct mli_engine *engine, size_t engine_tiny)
{
    struct channel_caps caps;

    atomic_store(&channel_engine_word, engine);
    tiny = engine_tiny;
    caps = caps_of(0);
    atomic_store(&channel_sync_limit_word, caps.flags & MLI_CHANNEL_CPU ? SIZE_MAX : caps.tiny);
}

bool channel_open(uint32_t number)
{
    const struct mli_engine *engine = channel_engine();

    if (engine->open && !engine->open(number))
        return false;
    channel_caps_table[number] = caps_of(number);
    counters_reset(&channel_table[number].counters);
    return true;
}

/*
 * Waits for POLLING alone: a driver that a test calls directly may have set POLL_WANTED, which no
 * poll will clear.
 */
static void quiesce(uint32_t number)
{
    while (atomic_load_explicit(&channel_table[number].polling, memory_order_acquire) & POLLING)
        clock_sleep(QUIET_PAUSE_NS);
}

void channel_close(uint32_t number)
{
    const struct mli_engine *engine = channel_engine();

    quiesce(number);
    if (engine->synchronise)
        engine->synchronise(number);
    if (engine->close)
        engine->close(number);
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
     * The engine reports descriptor 0 for a work item stopped before its first row, even if the
     * plan has no copy.
     */
    if (end->descriptor == 0 && channel->plan.box.run == 0) {
        channel->end.descriptor = 1;
        channel->end.row = 0;
    }
    count_done(channel, &channel->end);
    atomic_store_explicit(&channel->busy, 0, memory_order_relaxed);
}

void channel_after_fork(uint32_t number)
{
    const struct mli_work_end end = {.status = MLI_STATUS_DMA_ERROR, .descriptor = UINT32_MAX};
    struct channel *channel = &channel_table[number];
    struct counters *counters = &channel->counters;

    if (atomic_load(&counters->version) % 2 != 0)
        counters_end(counters);
    atomic_store(&channel->polling, 0);
    if (!channel_is_polled(number) &&
        counters_get(counters, COUNTER_SUBMITTED) != counters_get(counters, COUNTER_COMPLETED) +
                                                         counters_get(counters, COUNTER_FAILED) +
                                                         counters_get(counters, COUNTER_CANCELLED))
        channel_end(channel, &end);
}

void channel_cancel(uint32_t number, uint32_t work)
{
    work_cancel(&channel_table[number].work, work);
    if (channel_is_stand_in(number))
        return;
    if (channel_engine()->cancel)
        channel_engine()->cancel(number);
    if (channel_caps(number)->flags & MLI_CHANNEL_INTERRUPT)
        mli_mov_interrupt(number); /* poll then sees that the work item is cancelled */
}

bool channel_is_polled(uint32_t number)
{
    return channel_caps(number)->flags & MLI_CHANNEL_POLLED;
}

/* Returns whether the pool orders the calls of submit and poll for the channel. */
static bool is_driven(uint32_t number)
{
    return channel_caps(number)->flags & (MLI_CHANNEL_POLLED | MLI_CHANNEL_INTERRUPT);
}

/* Polls the channel if it has a work item. Returns the number of completed descriptors. */
static uint32_t poll_engine(uint32_t number)
{
    if (!atomic_load_explicit(&channel_table[number].busy, memory_order_relaxed))
        return 0;
    return channel_engine()->poll(number, POLL_BUDGET);
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
            channel_engine()->submit(number, &channel->work);
        }
        if (polling & POLL_WANTED)
            completed += poll_engine(number);
        polling = POLLING;
    }
    return completed;
}

/*
 * Submits the work item, or leaves this to the thread that polls the channel: another thread, or
 * this thread further up the call stack.
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
    if (is_driven(number) && engine == channel_engine())
        submit_driven(number);
    else
        engine->submit(number, &channel_table[number].work);
}

uint32_t channel_poll(uint32_t number)
{
    struct channel *channel = &channel_table[number];
    uint32_t completed;

    if (atomic_fetch_or_explicit(&channel->polling, POLLING, memory_order_acquire) & POLLING)
        return 0; /* another thread polls the channel, or a caller of this function does */
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
    if (number >= POOL_CHANNELS || !(channel_caps(number)->flags & MLI_CHANNEL_INTERRUPT))
        return;
    if (!platform_pend(number))
        atomic_fetch_or_explicit(&channel_table[number].polling, POLL_WANTED, memory_order_relaxed);
}

size_t channel_written(uint32_t number)
{
    return __atomic_load_n(&channel_table[number].work.written, __ATOMIC_RELAXED);
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

void channel_read_stats(uint32_t number, mli_mov_channel_stats *stats)
{
    counters_read(&channel_table[number].counters, stats);
}
