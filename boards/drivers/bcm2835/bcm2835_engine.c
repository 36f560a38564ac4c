/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels execute the chains of boards/drivers/chain.h; an item is a control block.
 *
 * Errors. A channel that gets a read error clears ACTIVE and keeps its registers: CONBLK_AD names
 * the block, TXFR_LEN and DEST_AD name the row. The controller reports no write errors.
 *
 * Cancel. The channel is paused, in any state. When the responses to its writes have come, the
 * registers name the row, and a reset makes the channel forget the block. ABORT is not used: it
 * goes on with the next block.
 *
 * Only submit and poll write the registers of a channel, so they need no lock. The interrupt
 * handler masks the interrupt; poll clears it, and unmasks it when it starts a chain.
 */
#include "boards/drivers/bcm2835/bcm2835_engine.h"

#include <stdatomic.h>

#include "boards/drivers/bcm2835/bcm2835_device.h"
#include "boards/drivers/chain.h"
#include "libmli/port/option.h"

static struct lane {
    struct chain_channel chains;
    _Alignas(32) struct bcm2835_block blocks[CHAIN_COUNT][BCM2835_BLOCKS_MAX];
    uint32_t number; /* the channel of the controller */
    enum bcm2835_kind kind;
    bool paused;
    bool interrupt;
} lanes[BCM2835_CHANNELS_MAX];

static _Atomic uint32_t interrupt_option, blocks_option = BCM2835_BLOCKS_MAX,
                                          run_option = BCM2835_RUN_DEFAULT,
                                          piece_option = BCM2835_PIECE_DEFAULT, lite_option;

void bcm2835_set_platform(const struct bcm2835_platform *platform)
{
    bcm2835_platform = *platform;
    atomic_store_explicit(&interrupt_option, platform->mask != NULL, memory_order_relaxed);
}

static enum bcm2835_kind kind_of(uint32_t number)
{
    return port_option_get(&lite_option) ? BCM2835_LITE : bcm2835_kind_of(number);
}

/* `tiny` stays 0: measure the size for a board. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    bcm2835_block_limits(kind_of(bcm2835_number(channel)), caps);
    caps->granularity = bcm2835_platform.unit;
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

static uint32_t encode(uint32_t channel, uint32_t chain, uint32_t first,
                       const struct mli_descriptor *piece)
{
    struct lane *lane = &lanes[channel];

    return bcm2835_block_encode(&lane->blocks[chain][first], lane->kind, piece) ? 1 : 0;
}

static uint32_t bus_of(const struct bcm2835_block *block)
{
    return (uint32_t)mli_bus_address(block);
}

static void link_blocks(uint32_t channel, uint32_t chain, uint32_t count)
{
    struct bcm2835_block *blocks = lanes[channel].blocks[chain];

    for (uint32_t i = 1; i < count; i++)
        bcm2835_block_link(&blocks[i - 1], bus_of(&blocks[i]));
    mli_cache_clean(blocks, count * sizeof(blocks[0]));
}

/* Starts a chain, and unmasks the interrupt. */
static void start(uint32_t channel, uint32_t chain)
{
    struct lane *lane = &lanes[channel];

    lane->paused = false;
    bcm2835_start(lane->number, bus_of(lane->blocks[chain]));
    if (lane->interrupt)
        bcm2835_platform.mask(lane->number, false);
}

static enum chain_state look(uint32_t channel, enum chain_stop request)
{
    struct lane *lane = &lanes[channel];
    uint32_t cs;

    if (request != CHAIN_GO_ON && !lane->paused)
        bcm2835_pause(lane->number);
    lane->paused |= request != CHAIN_GO_ON;
    cs = bcm2835_get(lane->number, BCM2835_CS);
    if (!(cs & BCM2835_CS_ERROR)) {
        if (bcm2835_has_ended(lane->number, cs))
            return CHAIN_ENDED;
        if (!lane->paused)
            return CHAIN_BUSY;
    }
    /* After CHAIN_GIVE_UP, the reset ends a channel that does not become quiet. */
    if (!bcm2835_is_quiet(lane->number, cs) && request != CHAIN_GIVE_UP)
        return CHAIN_STOPPING;
    return cs & BCM2835_CS_ERROR ? CHAIN_FAILED : CHAIN_STOPPED;
}

static uint32_t position(uint32_t channel, uint32_t chain, uint32_t count)
{
    const struct lane *lane = &lanes[channel];
    const uint32_t distance =
        bcm2835_get(lane->number, BCM2835_CONBLK_AD) - bus_of(lane->blocks[chain]);
    const uint32_t i = distance / (uint32_t)sizeof(lane->blocks[chain][0]);

    return i < count ? i : 0;
}

static uint64_t rows(uint32_t channel, uint32_t chain, uint32_t item,
                     const struct mli_descriptor *piece)
{
    const struct lane *lane = &lanes[channel];

    return bcm2835_block_rows(&lane->blocks[chain][item], piece,
                              bcm2835_get(lane->number, BCM2835_TXFR_LEN),
                              bcm2835_get(lane->number, BCM2835_DEST_AD));
}

static void clear(uint32_t channel, bool success)
{
    const uint32_t number = lanes[channel].number;

    if (success)
        bcm2835_set(number, BCM2835_CS, BCM2835_CS_INT | BCM2835_CS_END);
    else
        bcm2835_reset(number);
}

static const struct chain_controller controller = {
    .piece_items = 1,
    .caps = caps,
    .encode = encode,
    .link = link_blocks,
    .start = start,
    .look = look,
    .position = position,
    .rows = rows,
    .clear = clear,
};

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const struct chain_setup setup = {
        .controller = &controller,
        .number = channel,
        .items_max = port_option_get(&blocks_option),
        .clock_ns = bcm2835_platform.clock_ns,
    };

    lane->number = bcm2835_number(channel);
    lane->kind = kind_of(lane->number);
    lane->interrupt = port_option_get(&interrupt_option);
    if (!bcm2835_take(lane->number))
        return false;
    chain_open(&lane->chains, &setup);
    return true;
}

static void close_channel(uint32_t channel)
{
    if (lanes[channel].interrupt)
        bcm2835_platform.mask(lanes[channel].number, true);
    bcm2835_reset(lanes[channel].number);
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
    if (channel < BCM2835_CHANNELS_MAX)
        chain_stats(&lanes[channel].chains, stats);
}

void bcm2835_interrupt(uint32_t number)
{
    bcm2835_platform.mask(number, true);
    for (uint32_t channel = 0; channel < bcm2835_channels(); channel++) {
        if (bcm2835_number(channel) == number)
            mli_mov_interrupt(channel);
    }
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const bool connected = bcm2835_platform.mask != NULL;
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, connected, 0, connected},
        {"blocks", &blocks_option, BCM2835_BLOCKS_MAX, 1, BCM2835_BLOCKS_MAX},
        {"run", &run_option, BCM2835_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, BCM2835_PIECE_DEFAULT, 0, UINT32_MAX},
        {"lite", &lite_option, 0, 0, 1},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

static const char *reason(void)
{
    return bcm2835_channels() > 0 ? "bcm2835: another program uses the channel"
                                  : "bcm2835: the board has described no channels";
}

const struct mli_engine bcm2835_engine = {
    .size = sizeof(struct mli_engine),
    .name = "bcm2835",
    .probe = bcm2835_channels,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .stats = stats,
    .option = option,
    .reason = reason,
};
