/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels execute the chains of libmli/port/common/chain.h.
 *
 * Ends. A channel that has executed its last item, or that had an error, disables itself. All
 * channels share one interrupt, and the register that ends it also forgets the error, so
 * pl080_interrupt() keeps errors in the lanes. look() reads first whether the channel is enabled,
 * then whether it had an error: a disabled channel gets no other error.
 *
 * Errors. The register LLI names the item after the one that failed. Its piece is reported: the
 * manual does not promise more.
 *
 * Cancel. The channel is halted, and disabled when its FIFO is empty. A channel whose FIFO does not
 * become empty is disabled in the end; it then ends with its current transfer.
 */
#include "libmli/port/pl080/pl080_engine.h"

#include <stdatomic.h>

#include "libmli/port/common/chain.h"
#include "libmli/port/common/option.h"
#include "libmli/port/pl080/pl080_item.h"

enum {
    PART_PL080 = 0x080,
    PART_PL081 = 0x081, /* two channels and one master */
};

enum phase {
    RUNNING,  /* the channel executes a chain, or is idle */
    HALTING,  /* the channel takes no more data, and its FIFO may have some */
    DISABLING /* the channel may be in its last transfer */
};

static struct lane {
    struct chain_channel chains;
    struct pl080_item items[CHAIN_COUNT][PL080_ITEMS_MAX];
    enum phase phase;
    bool interrupt;
    _Atomic uint32_t failed; /* the interrupt handler has cleared an error of the channel */
} lanes[PL080_CHANNELS_MAX];

static struct pl080_platform board;

static _Atomic uint32_t interrupt_option, items_option = PL080_ITEMS_MAX,
                                          run_option = PL080_RUN_DEFAULT,
                                          piece_option = PL080_PIECE_DEFAULT;

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

static uint32_t channel_register(uint32_t channel, enum pl080_channel_register offset)
{
    return PL080_CHANNELS + channel * PL080_CHANNEL_BYTES + offset;
}

void pl080_set_platform(const struct pl080_platform *platform)
{
    board = *platform;
    atomic_store_explicit(&interrupt_option, platform->interrupts, memory_order_relaxed);
}

static uint32_t probe(void)
{
    uint32_t id = 0, channels;

    if (board.base == 0 && !board.read)
        return 0;
    for (uint32_t i = 0; i < 4; i++)
        id |= (get(PL080_PERIPH_ID + 4 * i) & 0xff) << 8 * i;
    if (PL080_ID_PART(id) != PART_PL080 && PL080_ID_PART(id) != PART_PL081)
        return 0;
    channels = PL080_ID_CHANNELS(id);
    return channels < PL080_CHANNELS_MAX ? channels : PL080_CHANNELS_MAX;
}

/* `tiny` stays 0: measure the size for a board. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    pl080_item_limits(caps);
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

/* Forgets the ends and errors of an idle channel. */
static void forget(uint32_t channel)
{
    set(PL080_INT_TC_CLEAR, 1u << channel);
    set(PL080_INT_ERROR_CLEAR, 1u << channel);
    atomic_store_explicit(&lanes[channel].failed, 0, memory_order_relaxed);
}

/* Disables an idle channel. */
static void reset(uint32_t channel)
{
    const uintptr_t before = lock();

    set(channel_register(channel, PL080_C_CONFIGURATION), 0);
    forget(channel);
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
    return pl080_item_encode(&lanes[channel].items[chain][first], piece);
}

static void link_items(uint32_t channel, uint32_t chain, uint32_t count)
{
    pl080_item_link(lanes[channel].items[chain], count);
}

/* Loads the first item of the chain into the registers. */
static void start(uint32_t channel, uint32_t chain)
{
    struct lane *lane = &lanes[channel];
    const struct pl080_item *item = &lane->items[chain][0];
    const uintptr_t before = lock();

    lane->phase = RUNNING;
    forget(channel);
    set(channel_register(channel, PL080_C_SRC), item->src);
    set(channel_register(channel, PL080_C_DST), item->dst);
    set(channel_register(channel, PL080_C_LLI), item->next);
    set(channel_register(channel, PL080_C_CONTROL), item->control);
    chain_barrier();
    set(channel_register(channel, PL080_C_CONFIGURATION),
        PL080_C_ENABLE | (lane->interrupt ? PL080_C_TC_INTERRUPT | PL080_C_ERROR_INTERRUPT : 0));
    unlock(before);
}

/* Halts or disables a channel that must stop, as far as it has come. */
static void stop(uint32_t channel, bool at_once)
{
    struct lane *lane = &lanes[channel];
    const uint32_t configuration = channel_register(channel, PL080_C_CONFIGURATION);
    const uint32_t value = get(configuration);

    if (lane->phase == RUNNING && !at_once) {
        lane->phase = HALTING;
        set(configuration, value | PL080_C_HALT);
    } else if (at_once || !(value & PL080_C_ACTIVE)) {
        lane->phase = DISABLING;
        set(configuration, 0);
    }
}

static enum chain_state look(uint32_t channel, enum chain_stop request)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t before = lock();
    const bool enabled = get(PL080_ENABLED_CHANNELS) >> channel & 1;
    bool failed = get(PL080_RAW_ERROR_STATUS) >> channel & 1; /* before the handler clears it, */

    failed |= port_option_get(&lane->failed) != 0; /* or after it */
    unlock(before);
    if (!enabled)
        return failed ? CHAIN_FAILED : lane->phase == DISABLING ? CHAIN_STOPPED : CHAIN_ENDED;
    if (lane->phase != DISABLING && (failed || request != CHAIN_GO_ON))
        stop(channel, failed || request == CHAIN_GIVE_UP);
    return lane->phase == RUNNING ? CHAIN_BUSY : CHAIN_STOPPING;
}

static uint32_t position(uint32_t channel, uint32_t chain, uint32_t count)
{
    return pl080_item_before(lanes[channel].items[chain], count,
                             get(channel_register(channel, PL080_C_LLI)));
}

static const struct chain_controller controller = {
    .piece_items = PL080_PIECE_ITEMS,
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

    if (get(PL080_ENABLED_CHANNELS) >> channel & 1)
        return false;
    lane->interrupt = port_option_get(&interrupt_option);
    lane->phase = RUNNING;
    chain_open(&lane->chains, &setup);
    set(PL080_CONFIGURATION, PL080_ENABLE);
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
    if (channel < PL080_CHANNELS_MAX)
        chain_stats(&lanes[channel].chains, stats);
}

void pl080_interrupt(void)
{
    const uintptr_t before = lock();
    const uint32_t errors = get(PL080_INT_ERROR_STATUS), ends = get(PL080_INT_TC_STATUS);

    for (uint32_t channel = 0; channel < PL080_CHANNELS_MAX; channel++) {
        if (errors >> channel & 1)
            atomic_store_explicit(&lanes[channel].failed, 1, memory_order_relaxed);
    }
    set(PL080_INT_TC_CLEAR, ends);
    set(PL080_INT_ERROR_CLEAR, errors);
    unlock(before);
    for (uint32_t channel = 0; channel < PL080_CHANNELS_MAX; channel++) {
        if ((errors | ends) >> channel & 1)
            mli_mov_interrupt(channel);
    }
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, board.interrupts, 0, board.interrupts},
        {"items", &items_option, PL080_ITEMS_MAX, PL080_PIECE_ITEMS, PL080_ITEMS_MAX},
        {"run", &run_option, PL080_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, PL080_PIECE_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

static const char *reason(void)
{
    return probe() > 0 ? "pl080: another program uses the channel"
                       : "pl080: there is no controller at the address of the board";
}

const struct mli_engine pl080_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pl080",
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
