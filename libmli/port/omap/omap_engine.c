/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels execute the chains of libmli/port/common/chain.h. An item is a logical channel of the
 * controller: its registers describe a block, and it starts the next item of the chain at its end.
 * A lane is a channel of the engine, and has CHAIN_COUNT * `items` logical channels.
 *
 * Ends. An item is complete when BLOCK is set in its CSR. The chain is complete when its last item
 * is, and no item is active. Each item raises an interrupt, because a bit of CSR is set only if its
 * interrupt is enabled; the controller executes the next item meanwhile.
 *
 * Interrupts. omap_interrupt() clears CSR, so it keeps the causes in the lanes.
 *
 * Errors. A channel stops at an error, and its link is not followed. CDAC names the row.
 *
 * Cancel. Links are removed first, then the items are disabled. A link that the controller has
 * begun to follow may enable an item after this: so all items must be inactive twice, after a poll
 * in which they were disabled. A channel that stays active has no reset of its own: its work item
 * ends when it does.
 */
#include "libmli/port/omap/omap_engine.h"

#include <stdatomic.h>

#include "libmli/port/common/chain.h"
#include "libmli/port/common/option.h"
#include "libmli/port/omap/omap_block.h"

struct item {
    struct omap_block block;
    uint32_t number;         /* of the logical channel */
    _Atomic uint32_t causes; /* bits of CSR that the interrupt handler has cleared */
};

static struct lane {
    struct chain_channel chains;
    struct item items[CHAIN_COUNT][OMAP_ITEMS_MAX];
    uint32_t most;                /* items of a chain that is full */
    uint32_t counts[CHAIN_COUNT]; /* items of each chain */
    uint32_t chain;               /* that was started last */
    bool stopping;
    _Atomic uint32_t mask; /* the logical channels, for the interrupt handler; 0: closed */
} lanes[OMAP_LANES_MAX];

static struct omap_platform board;
static uint32_t numbers[OMAP_CHANNELS_ALL], number_count;

static _Atomic uint32_t interrupt_option,
    items_option = OMAP_ITEMS_MAX, run_option = OMAP_RUN_DEFAULT, piece_option = OMAP_PIECE_DEFAULT;

/* Registers */

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

static uint32_t offset_of(const struct item *item, enum omap_channel_register name)
{
    return OMAP_CHANNELS + item->number * OMAP_CHANNEL_BYTES + name;
}

static uint32_t get_item(const struct item *item, enum omap_channel_register name)
{
    return get(offset_of(item, name));
}

static void set_item(const struct item *item, enum omap_channel_register name, uint32_t value)
{
    set(offset_of(item, name), value);
}

/* Returns the causes of an item. The handler may move a bit from the register to the variable. */
static uint32_t causes_of(struct item *item)
{
    const uint32_t csr = get_item(item, OMAP_CSR);

    return csr | port_option_get(&item->causes);
}

static bool is_active(const struct item *item)
{
    return get_item(item, OMAP_CCR) & (OMAP_ENABLE | OMAP_RD_ACTIVE | OMAP_WR_ACTIVE);
}

/* Forgets the causes of an idle item. Call it under the lock. */
static void forget(struct item *item)
{
    set_item(item, OMAP_CSR, OMAP_CAUSES_ALL);
    set(OMAP_IRQSTATUS_L0, 1u << item->number);
    atomic_store_explicit(&item->causes, 0, memory_order_relaxed);
}

/* Chains */

/* Limits of the form of rows; omap_block_limits_of() has both. `tiny` stays 0: measure it. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    omap_block_limits(caps);
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

/* Writes the registers of an idle logical channel. */
static uint32_t encode(uint32_t channel, uint32_t chain, uint32_t first,
                       const struct mli_descriptor *piece)
{
    struct item *item = &lanes[channel].items[chain][first];
    const struct omap_block *block = &item->block;

    if (!omap_block_encode(&item->block, piece))
        return 0;
    set_item(item, OMAP_CCR, block->ccr);
    set_item(item, OMAP_CICR, OMAP_BLOCK | OMAP_ERRORS);
    set_item(item, OMAP_CSDP, block->csdp);
    set_item(item, OMAP_CEN, block->cen);
    set_item(item, OMAP_CFN, block->cfn);
    set_item(item, OMAP_CSSA, block->cssa);
    set_item(item, OMAP_CDSA, block->cdsa);
    set_item(item, OMAP_CSEI, block->csei);
    set_item(item, OMAP_CSFI, block->csfi);
    set_item(item, OMAP_CDEI, block->cdei);
    set_item(item, OMAP_CDFI, block->cdfi);
    set_item(item, OMAP_COLOR, 0);
    return 1;
}

static void link_items(uint32_t channel, uint32_t chain, uint32_t count)
{
    const struct item *items = lanes[channel].items[chain];

    lanes[channel].counts[chain] = count;
    for (uint32_t i = 1; i < count; i++)
        set_item(&items[i - 1], OMAP_CLNK_CTRL, OMAP_LINK | items[i].number);
    set_item(&items[count - 1], OMAP_CLNK_CTRL, 0);
}

static void start(uint32_t channel, uint32_t chain)
{
    struct lane *lane = &lanes[channel];
    struct item *items = lane->items[chain];
    const uintptr_t before = lock();

    lane->chain = chain;
    lane->stopping = false;
    for (uint32_t i = 0; i < lane->counts[chain]; i++) {
        forget(&items[i]);
        set_item(&items[i], OMAP_CDAC, 0);
    }
    chain_barrier();
    set_item(&items[0], OMAP_CCR, items[0].block.ccr | OMAP_ENABLE);
    unlock(before);
}

static uint32_t active_items(const struct item *items, uint32_t count)
{
    uint32_t active = 0;

    for (uint32_t i = 0; i < count; i++)
        active += is_active(&items[i]);
    return active;
}

static uint32_t all_causes(struct item *items, uint32_t count)
{
    uint32_t causes = 0;

    for (uint32_t i = 0; i < count; i++)
        causes |= causes_of(&items[i]);
    return causes;
}

/* Has the items of a chain stop. Those that a link has enabled meanwhile are disabled later. */
static void stop(struct lane *lane)
{
    const struct item *items = lane->items[lane->chain];
    const uint32_t count = lane->counts[lane->chain];

    for (uint32_t i = 0; i < count && !lane->stopping; i++)
        set_item(&items[i], OMAP_CLNK_CTRL, 0);
    lane->stopping = true;
    for (uint32_t i = 0; i < count; i++) {
        if (get_item(&items[i], OMAP_CCR) & OMAP_ENABLE)
            set_item(&items[i], OMAP_CCR, items[i].block.ccr);
    }
}

/* Reads CCR before CSR: an item that is not active has all its causes in CSR. */
static enum chain_state look(uint32_t channel, enum chain_stop request)
{
    struct lane *lane = &lanes[channel];
    struct item *items = lane->items[lane->chain];
    const uint32_t count = lane->counts[lane->chain], active = active_items(items, count);
    const bool failed = all_causes(items, count) & OMAP_ERRORS;

    if (!failed && active == 0 && causes_of(&items[count - 1]) & OMAP_BLOCK)
        return CHAIN_ENDED;
    if (!failed && request == CHAIN_GO_ON && !lane->stopping)
        return CHAIN_BUSY;
    if (failed && active == 0)
        return CHAIN_FAILED;
    if (lane->stopping && active == 0 && active_items(items, count) == 0)
        return CHAIN_STOPPED;
    stop(lane);
    return CHAIN_STOPPING;
}

static uint32_t position(uint32_t channel, uint32_t chain, uint32_t count)
{
    struct item *items = lanes[channel].items[chain];
    uint32_t i = 0;

    while (i + 1 < count && causes_of(&items[i]) & OMAP_BLOCK)
        i++;
    return i;
}

/* start() has set CDAC to 0: it is outside of the block until the item begins. */
static uint64_t rows(uint32_t channel, uint32_t chain, uint32_t item,
                     const struct mli_descriptor *piece)
{
    const struct item *at = &lanes[channel].items[chain][item];

    return omap_block_rows(&at->block, piece, get_item(at, OMAP_CDAC));
}

/* A poll may have seen the end before the handler. Items of chains before have been forgotten. */
static void clear(uint32_t channel, bool success)
{
    struct lane *lane = &lanes[channel];
    const uintptr_t before = lock();

    (void)success;
    for (uint32_t i = 0; i < lane->counts[lane->chain]; i++)
        forget(&lane->items[lane->chain][i]);
    unlock(before);
}

static const struct chain_controller controller = {
    .piece_items = 1,
    .caps = caps,
    .plan_caps = omap_block_limits_of,
    .encode = encode,
    .link = link_items,
    .start = start,
    .look = look,
    .position = position,
    .rows = rows,
    .clear = clear,
};

/* The functions of the engine */

void omap_set_platform(const struct omap_platform *platform)
{
    board = *platform;
    number_count = 0;
    for (uint32_t i = 0; i < OMAP_CHANNELS_ALL; i++) {
        if (platform->channels >> i & 1)
            numbers[number_count++] = i;
    }
    atomic_store_explicit(&interrupt_option, platform->interrupts, memory_order_relaxed);
}

/* Returns the number of logical channels of a lane. */
static uint32_t lane_items(void)
{
    return CHAIN_COUNT * port_option_get(&items_option);
}

static uint32_t probe(void)
{
    const uint32_t count = number_count / lane_items();

    if (board.base == 0 && !board.read)
        return 0;
    return count < OMAP_LANES_MAX ? count : OMAP_LANES_MAX;
}

/* Enables the interrupts of logical channels, or disables them. */
static void enable_interrupts(uint32_t mask, bool enable)
{
    const uintptr_t before = lock();
    const uint32_t others = get(OMAP_IRQENABLE_L0) & ~mask;

    set(OMAP_IRQENABLE_L0, enable ? others | mask : others);
    unlock(before);
}

static void close_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    enable_interrupts(port_option_get(&lane->mask), false);
    atomic_store_explicit(&lane->mask, 0, memory_order_relaxed);
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const uint32_t count = port_option_get(&items_option);
    const struct chain_setup setup = {
        .controller = &controller,
        .number = channel,
        .items_max = count,
        .clock_ns = board.clock_ns,
    };
    uint32_t mask = 0;

    for (uint32_t i = 0; i < CHAIN_COUNT * count; i++) {
        struct item *item = &lane->items[i / count][i % count];

        item->number = numbers[channel * CHAIN_COUNT * count + i];
        if (is_active(item))
            return false;
        forget(item);
        mask |= 1u << item->number;
    }
    lane->counts[0] = lane->counts[1] = 0;
    lane->most = count;
    chain_open(&lane->chains, &setup);
    atomic_store_explicit(&lane->mask, mask, memory_order_relaxed);
    enable_interrupts(mask, port_option_get(&interrupt_option));
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
    if (channel < OMAP_LANES_MAX)
        chain_stats(&lanes[channel].chains, stats);
}

/* Moves the causes of an item from CSR to its variable, and silences its interrupt. */
static void collect(struct item *item)
{
    const uint32_t csr = get_item(item, OMAP_CSR);
    const uint32_t before = port_option_get(&item->causes);

    atomic_store_explicit(&item->causes, before | csr, memory_order_relaxed);
    set_item(item, OMAP_CSR, csr);
    set(OMAP_IRQSTATUS_L0, 1u << item->number);
}

/* Silences the interrupts of a lane. Returns whether it has raised one. */
static bool silence(struct lane *lane)
{
    const uintptr_t before = lock();
    const uint32_t raised = get(OMAP_IRQSTATUS_L0) & port_option_get(&lane->mask);

    for (uint32_t i = 0; raised != 0 && i < CHAIN_COUNT * lane->most; i++) {
        struct item *item = &lane->items[i / lane->most][i % lane->most];

        if (raised >> item->number & 1)
            collect(item);
    }
    unlock(before);
    return raised != 0;
}

void omap_interrupt(void)
{
    for (uint32_t channel = 0; channel < OMAP_LANES_MAX; channel++) {
        if (silence(&lanes[channel]))
            mli_mov_interrupt(channel);
    }
}

uint32_t omap_channel(uint32_t number)
{
    uint32_t channel = 0;

    while (channel < OMAP_LANES_MAX && !(port_option_get(&lanes[channel].mask) >> number & 1))
        channel++;
    return channel;
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, board.interrupts, 0, board.interrupts},
        {"items", &items_option, OMAP_ITEMS_MAX, 1, OMAP_ITEMS_MAX},
        {"run", &run_option, OMAP_RUN_DEFAULT, 0, UINT32_MAX},
        {"piece", &piece_option, OMAP_PIECE_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

static const char *reason(void)
{
    return probe() > 0 ? "omap: another program uses the channel"
                       : "omap: the board has described too few channels";
}

const struct mli_engine omap_engine = {
    .size = sizeof(struct mli_engine),
    .name = "omap",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .stats = stats,
    .option = option,
    .reason = reason,
};
