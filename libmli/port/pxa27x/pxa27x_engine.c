/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels execute the chains of libmli/port/common/chain.h.
 *
 * Ends. A channel stops after a descriptor without a next one, and after an error. DCSR says both:
 * STOPPED and BUS_ERROR. The interrupt of an end is that of STOPPED, not that of the last
 * descriptor (END): a poll inside the handler then finds the channel stopped.
 *
 * Interrupts. pxa27x_interrupt() disables the interrupt of a channel that has stopped, in which
 * STOPPED stays visible, and clears BUS_ERROR, which no bit disables: so it keeps errors in the
 * lanes. The write clears RUN, too: it has no effect on a channel that has stopped, and stops one
 * after an error.
 *
 * Errors. DDADR names the descriptor after the one that failed.
 *
 * Cancel. A channel without RUN stops after its current burst. If it has stopped at its end by
 * then, DDADR, DCMD and DTADR are those of the end, and the work item is complete. Nothing resets a
 * channel that does not stop: its work item ends when it does.
 */
#include "libmli/port/pxa27x/pxa27x_engine.h"

#include <stdatomic.h>

#include "libmli/port/common/chain.h"
#include "libmli/port/common/option.h"
#include "libmli/port/pxa27x/pxa27x_item.h"

static struct lane {
    struct chain_channel chains;
    _Alignas(16) struct pxa27x_item items[CHAIN_COUNT][PXA27X_ITEMS_MAX];
    uint32_t counts[CHAIN_COUNT]; /* descriptors of each chain */
    uint32_t chain;               /* the last one that was started */
    uint32_t number;              /* of the channel of the controller */
    bool stopping;                /* RUN is cleared */
    bool interrupt;
    _Atomic uint32_t failed; /* the interrupt handler has cleared an error of the channel */
} lanes[PXA27X_CHANNELS_MAX];

static struct pxa27x_platform board;
static uint32_t lane_count;

static _Atomic uint32_t interrupt_option, items_option = PXA27X_ITEMS_MAX,
                                          run_option = PXA27X_RUN_DEFAULT,
                                          piece_option = PXA27X_PIECE_DEFAULT;

static uintptr_t lock(void)
{
    return board.lock ? board.lock() : 0;
}

static void unlock(uintptr_t before)
{
    if (board.unlock)
        board.unlock(before);
}

static uint32_t get(uint32_t offset)
{
    return board.read ? board.read(offset) : *(volatile uint32_t *)(board.base + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    if (board.write)
        board.write(offset, value);
    else
        *(volatile uint32_t *)(board.base + offset) = value;
}

/* Returns the offset of DCSR of a lane. */
static uint32_t status_of(const struct lane *lane)
{
    return PXA27X_DCSR + 4 * lane->number;
}

static uint32_t register_of(const struct lane *lane, enum pxa27x_channel_register offset)
{
    return PXA27X_CHANNELS + lane->number * PXA27X_CHANNEL_BYTES + offset;
}

/* Returns the bit of DCSR that has a lane raise an interrupt when its channel has stopped. */
static uint32_t interrupt_of(const struct lane *lane)
{
    return lane->interrupt ? PXA27X_STOP_INTERRUPT : 0;
}

void pxa27x_set_platform(const struct pxa27x_platform *platform)
{
    board = *platform;
    lane_count = 0;
    for (uint32_t i = 0; i < PXA27X_CHANNELS_ALL && lane_count < PXA27X_CHANNELS_MAX; i++) {
        if (platform->channels >> i & 1)
            lanes[lane_count++].number = i;
    }
    atomic_store_explicit(&interrupt_option, platform->interrupts, memory_order_relaxed);
}

/* The controller has no register that identifies it. */
static uint32_t probe(void)
{
    return board.base != 0 || board.read ? lane_count : 0;
}

/* `tiny` stays 0: measure the size for a board. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    pxa27x_item_limits(caps);
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

/* Disables the interrupt of an idle channel, and forgets its ends and errors. */
static void reset(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t before = lock();

    set(status_of(lane), PXA27X_CAUSES);
    atomic_store_explicit(&lane->failed, 0, memory_order_relaxed);
    unlock(before);
}

static void clear(uint32_t channel, bool success)
{
    (void)success;
    reset(channel);
}

static uint32_t encode(uint32_t channel, uint32_t chain, uint32_t first,
                       const struct mli_descriptor *piece)
{
    return pxa27x_item_encode(&lanes[channel].items[chain][first], piece, board.command);
}

static void link_items(uint32_t channel, uint32_t chain, uint32_t count)
{
    lanes[channel].counts[chain] = count;
    pxa27x_item_link(lanes[channel].items[chain], count);
}

static void start(uint32_t channel, uint32_t chain)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t before = lock();

    lane->chain = chain;
    lane->stopping = false;
    atomic_store_explicit(&lane->failed, 0, memory_order_relaxed);
    set(register_of(lane, PXA27X_DDADR), pxa27x_item_bus(lane->items[chain]));
    chain_barrier();
    set(status_of(lane), PXA27X_RUN | PXA27X_CAUSES | interrupt_of(lane));
    unlock(before);
}

/* Returns whether a channel that has stopped has executed its last descriptor. */
static bool is_complete(const struct lane *lane)
{
    const struct pxa27x_item *last = &lane->items[lane->chain][lane->counts[lane->chain] - 1];

    return get(register_of(lane, PXA27X_DDADR)) & PXA27X_STOP &&
           (get(register_of(lane, PXA27X_DCMD)) & PXA27X_LENGTH_MAX) == 0 &&
           get(register_of(lane, PXA27X_DTADR)) == last->dst + (last->command & PXA27X_LENGTH_MAX);
}

static enum chain_state look(uint32_t channel, enum chain_stop request)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t before = lock();
    const uint32_t status = get(status_of(lane));
    const bool failed = status & PXA27X_BUS_ERROR || port_option_get(&lane->failed) != 0;

    if (!(status & PXA27X_STOPPED) && !lane->stopping && (failed || request != CHAIN_GO_ON)) {
        lane->stopping = true;
        set(status_of(lane), interrupt_of(lane)); /* no RUN */
    }
    unlock(before);
    if (!(status & PXA27X_STOPPED))
        return lane->stopping ? CHAIN_STOPPING : CHAIN_BUSY;
    if (failed)
        return CHAIN_FAILED;
    return lane->stopping && !is_complete(lane) ? CHAIN_STOPPED : CHAIN_ENDED;
}

static uint32_t position(uint32_t channel, uint32_t chain, uint32_t count)
{
    const struct lane *lane = &lanes[channel];

    return pxa27x_item_before(lane->items[chain], count, get(register_of(lane, PXA27X_DDADR)));
}

static const struct chain_controller controller = {
    .piece_items = 1,
    .caps = caps,
    .encode = encode,
    .link = link_items,
    .start = start,
    .look = look,
    .position = position,
    .clear = clear,
};

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const struct chain_setup setup = {
        .controller = &controller,
        .number = channel,
        .items_max = port_option_get(&items_option),
        .clock_ns = board.clock_ns,
    };
    uintptr_t before;

    if (!(get(status_of(lane)) & PXA27X_STOPPED))
        return false;
    lane->interrupt = port_option_get(&interrupt_option);
    chain_open(&lane->chains, &setup);
    before = lock();
    set(PXA27X_DALGN, get(PXA27X_DALGN) | 1u << lane->number);
    unlock(before);
    reset(channel);
    return true;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    chain_submit(&lanes[channel].chains, work);
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    return chain_poll(&lanes[channel].chains, budget);
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < PXA27X_CHANNELS_MAX)
        chain_stats(&lanes[channel].chains, stats);
}

/* Silences the interrupt of a channel. Returns whether it has raised one. */
static bool silence(struct lane *lane)
{
    const uintptr_t before = lock();
    const bool raised = get(PXA27X_DINT) >> lane->number & 1;

    if (raised) {
        const uint32_t causes = get(status_of(lane)) & PXA27X_CAUSES;

        if (causes & PXA27X_BUS_ERROR)
            atomic_store_explicit(&lane->failed, 1, memory_order_relaxed);
        set(status_of(lane), causes); /* an error that comes now stays */
    }
    unlock(before);
    return raised;
}

void pxa27x_interrupt(void)
{
    for (uint32_t channel = 0; channel < lane_count; channel++) {
        if (silence(&lanes[channel]))
            mli_mov_interrupt(channel);
    }
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, board.interrupts, 0, board.interrupts},
        {"items", &items_option, PXA27X_ITEMS_MAX, 1, PXA27X_ITEMS_MAX},
        {"run", &run_option, PXA27X_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, PXA27X_PIECE_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

static const char *reason(void)
{
    return probe() > 0 ? "pxa27x: another program uses the channel"
                       : "pxa27x: the board has described no channels";
}

const struct mli_engine pxa27x_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pxa27x",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = reset,
    .poll = poll,
    .stats = stats,
    .option = option,
    .reason = reason,
};
