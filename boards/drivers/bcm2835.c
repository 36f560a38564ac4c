/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels execute the chains of boards/drivers/chain.h; an item is a control block.
 *
 * Errors. A channel that gets a read error clears ACTIVE and keeps its registers: CONBLK_AD names
 * the block, TXFR_LEN and DEST_AD name the row. The controller reports no write errors.
 *
 * Cancel. The channel is paused, in any state. When the responses to its writes have come, the
 * registers name the row, and a reset makes the channel forget the block. ABORT is not used: it
 * continues with the next block.
 *
 * Only submit and poll write the registers of a channel, so they need no lock. The interrupt
 * handler masks the interrupt; poll clears it, and unmasks it when it starts a chain.
 */
#include <stdatomic.h>

#include "boards/drivers/bcm2835.h"
#include "boards/drivers/chain.h"
#include "libmli/port/option.h"

#define BCM2835_CS_PRIORITY    (8u << 16)
#define BCM2835_CS_ABORT       (1u << 30)
#define BCM2835_TI_WAIT_RESP   (1u << 3)
#define BCM2835_TI_DEST_WIDE   (1u << 5) /* flags DEST_WIDE, SRC_WIDE: accesses of 128 bits */
#define BCM2835_TI_SRC_WIDE    (1u << 9)
#define BCM2835_TI_BURST_SHIFT 12

/* DEBUG. A write of 1 clears an error. */
#define BCM2835_DEBUG_ERRORS     7u
#define BCM2835_DEBUG_WRITES_MAX 15u

enum {
    WIDE = 16,        /* bytes of a wide access */
    BURST_BYTES = 32, /* bytes that a full channel reads without a stall of the bus */
    LITE_BURST_BYTES = 16,
    Y_SHIFT = 16,
    D_STRIDE_SHIFT = 16,
    FIELD = 0xffff
};

/* The source of zeros: a channel reads the same bytes again and again. */
static const struct {
    _Alignas(BURST_BYTES) uint8_t bytes[BURST_BYTES];
} zeros;

static _Atomic uint32_t interrupt_option, blocks_option = BCM2835_BLOCKS_MAX,
                                          run_option = BCM2835_RUN_DEFAULT,
                                          piece_option = BCM2835_PIECE_DEFAULT, lite_option;

/*
 * Number of the first lite channel: in the manual, only channels 0 to 6 have the registers of full
 * channels.
 */
enum { FIRST_LITE = 7 };

/* Returns as which kind the engine uses a channel: full or lite. */
static enum bcm2835_kind kind_of(uint32_t number)
{
    return port_option_get(&lite_option) || number >= FIRST_LITE ? BCM2835_LITE : BCM2835_FULL;
}

static struct bcm2835_platform board;

/* Returns the number of the engine's channel: the n-th one that it may use. */
static uint32_t number_of(uint32_t channel)
{
    uint32_t number = 0;

    for (; number < BCM2835_CHANNELS_MAX - 1; number++) {
        if (board.channels >> number & 1 && channel-- == 0)
            break;
    }
    return number;
}

/* `tiny` stays 0: the best value depends on the board and was not measured. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    bcm2835_block_limits(kind_of(number_of(channel)), caps);
    caps->granularity = board.unit;
    caps->run_min = port_option_get(&run_option);
    caps->piece_min = port_option_get(&piece_option);
}

void bcm2835_block_limits(enum bcm2835_kind kind, struct mli_channel_caps *caps)
{
    caps->run_max = BCM2835_X_MAX;
    if (kind == BCM2835_LITE)
        return;
    caps->flags |= MLI_CHANNEL_ANY_LOOPS;
    caps->loops = 1;
    caps->linear_max = BCM2835_LINEAR_MAX;
    caps->count_max = BCM2835_ROWS_MAX;
    caps->gap_max = BCM2835_STRIDE_MAX;
}

/* Returns the distance from the first byte to the end of the last byte of a side of a box. */
static uint64_t extent(const struct mli_copy_box *box, bool source)
{
    uint64_t bytes = box->run;

    for (size_t i = 0; i < box->loops; i++)
        bytes += (uint64_t)(box->loop[i].count - 1) *
                 (source ? box->loop[i].src_step : box->loop[i].dst_step);
    return bytes;
}

/* Returns the bits of TI for the width and length of bursts. */
static uint32_t bursts(const struct bcm2835_block *block, enum bcm2835_kind kind)
{
    const uint32_t length =
        block->ti & BCM2835_TI_TDMODE ? block->txfr_len & FIELD : block->txfr_len;
    const uint32_t all = block->source_ad | block->dest_ad | length | block->stride |
                         block->stride >> D_STRIDE_SHIFT;
    const bool wide = all % WIDE == 0;
    const uint32_t bytes = kind == BCM2835_LITE ? LITE_BURST_BYTES : BURST_BYTES;

    return (wide ? BCM2835_TI_SRC_WIDE | BCM2835_TI_DEST_WIDE : 0) |
           (bytes / (wide ? WIDE : sizeof(uint32_t))) << BCM2835_TI_BURST_SHIFT;
}

bool bcm2835_block_encode(struct bcm2835_block *block, enum bcm2835_kind kind,
                          const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;
    bool reachable;

    *block = (struct bcm2835_block){.ti = BCM2835_TI_DEST_INC, .txfr_len = (uint32_t)box->run};
    reachable = chain_bus32(box->dst, extent(box, false), &block->dest_ad);
    if (box->src) {
        block->ti |= BCM2835_TI_SRC_INC;
        reachable &= chain_bus32(box->src, extent(box, true), &block->source_ad);
    } else {
        mli_cache_clean(zeros.bytes, sizeof(zeros.bytes));
        reachable &= chain_bus32(zeros.bytes, sizeof(zeros.bytes), &block->source_ad);
    }
    if (box->loops > 0) {
        const struct mli_copy_loop *loop = &box->loop[0];
        const uint32_t src_stride = box->src ? (uint32_t)(loop->src_step - box->run) & FIELD : 0;

        block->ti |= BCM2835_TI_TDMODE;
        block->txfr_len |= (uint32_t)(loop->count - 1) << Y_SHIFT;
        block->stride = (uint32_t)(loop->dst_step - box->run) << D_STRIDE_SHIFT | src_stride;
    }
    block->ti |= bursts(block, kind) | BCM2835_TI_INTEN | BCM2835_TI_WAIT_RESP;
    return reachable;
}

void bcm2835_block_link(struct bcm2835_block *block, uint32_t next)
{
    block->nextconbk = next;
    block->ti &= ~(BCM2835_TI_INTEN | BCM2835_TI_WAIT_RESP);
}

/*
 * The manual does not say whether TXFR_LEN counts what was read or what was written, so both
 * registers must agree that a row is complete. If the channel could not read this block, the
 * registers still describe an earlier block, and DEST_AD is most likely outside of this block's
 * destination.
 */
uint64_t bcm2835_block_rows(const struct bcm2835_block *block, const struct mli_descriptor *piece,
                            uint32_t txfr_len, uint32_t dest_ad)
{
    const struct mli_copy_box *box = &piece->box;
    const uint32_t distance = dest_ad - block->dest_ad;
    uint64_t count, left, written;

    if (box->loops == 0)
        return 0;
    count = box->loop[0].count;
    left = (uint64_t)(txfr_len >> Y_SHIFT) + 1;
    if (left > count || distance >= extent(box, false) + box->loop[0].dst_step)
        return 0;
    written = distance / box->loop[0].dst_step;
    if (distance % box->loop[0].dst_step >= box->run)
        written++;
    return written < count - left ? written : count - left;
}

/* Count the writes that have no response yet: END and INT then mean that memory has all bytes. */
enum { CS_RUN = BCM2835_CS_COUNT_WRITES | BCM2835_CS_PRIORITY };

static bool is_there(void)
{
    return board.base != 0 || board.read;
}

/* Returns the number of channels that the engine may use; 0 without a controller. */
static uint32_t probe(void)
{
    uint32_t count = 0;

    for (uint32_t number = 0; is_there() && number < BCM2835_CHANNELS_MAX; number++)
        count += board.channels >> number & 1;
    return count;
}

static uint32_t load(uint32_t offset)
{
    return board.read ? board.read(offset) : *(volatile uint32_t *)(board.base + offset);
}

static void store(uint32_t offset, uint32_t value)
{
    if (board.write)
        board.write(offset, value);
    else
        *(volatile uint32_t *)(board.base + offset) = value;
}

/* Access a register of a channel. */
static uint32_t get(uint32_t number, enum bcm2835_register offset)
{
    return load(number * BCM2835_CHANNEL_BYTES + offset);
}

static void set(uint32_t number, enum bcm2835_register offset, uint32_t value)
{
    store(number * BCM2835_CHANNEL_BYTES + offset, value);
}

/* Stops a channel in any state, and clears its interrupt and its errors. */
static void reset(uint32_t number)
{
    set(number, BCM2835_CS, BCM2835_CS_RESET);
    set(number, BCM2835_CS, BCM2835_CS_INT | BCM2835_CS_END);
    set(number, BCM2835_DEBUG, BCM2835_DEBUG_ERRORS);
}

/* Enables a channel and resets it. Returns false if another program uses the channel. */
static bool take(uint32_t number)
{
    store(BCM2835_ENABLE, load(BCM2835_ENABLE) | 1u << number);
    if (get(number, BCM2835_CS) & BCM2835_CS_ACTIVE)
        return false;
    reset(number);
    return true;
}

/* Starts a channel with the control block at an address of the bus. Clears its interrupt. */
static void start_channel(uint32_t number, uint32_t block)
{
    chain_barrier();
    set(number, BCM2835_CONBLK_AD, block);
    set(number, BCM2835_CS, CS_RUN | BCM2835_CS_INT | BCM2835_CS_END | BCM2835_CS_ACTIVE);
}

/* Pauses a channel. */
static void pause_channel(uint32_t number)
{
    set(number, BCM2835_CS, CS_RUN);
}

/*
 * Returns whether a channel has executed its last block, and memory has all bytes. No single bit
 * shows this: each block sets END, and ACTIVE is cleared before the last response.
 */
static bool has_ended(uint32_t number, uint32_t cs)
{
    return !(cs & (BCM2835_CS_ACTIVE | BCM2835_CS_WAITING)) && cs & BCM2835_CS_END &&
           get(number, BCM2835_CONBLK_AD) == 0;
}

/* Returns whether a channel does nothing, and memory has all bytes that it has written. */
static bool is_quiet(uint32_t number, uint32_t cs)
{
    const uint32_t debug = get(number, BCM2835_DEBUG);

    return (!(cs & BCM2835_CS_ACTIVE) || cs & BCM2835_CS_PAUSED) && !(cs & BCM2835_CS_WAITING) &&
           !(debug >> BCM2835_DEBUG_WRITES_SHIFT & BCM2835_DEBUG_WRITES_MAX);
}

static struct lane {
    struct chain_channel chains;
    _Alignas(32) struct bcm2835_block blocks[CHAIN_COUNT][BCM2835_BLOCKS_MAX];
    uint32_t number; /* the channel of the controller */
    enum bcm2835_kind kind;
    bool paused;
    bool interrupt;
} lanes[BCM2835_CHANNELS_MAX];

void bcm2835_set_platform(const struct bcm2835_platform *platform)
{
    board = *platform;
    atomic_store_explicit(&interrupt_option, platform->mask != NULL, memory_order_relaxed);
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
    start_channel(lane->number, bus_of(lane->blocks[chain]));
    if (lane->interrupt)
        board.mask(lane->number, false);
}

static enum chain_state look(uint32_t channel, enum chain_stop request)
{
    struct lane *lane = &lanes[channel];
    uint32_t cs;

    if (request != CHAIN_GO_ON && !lane->paused)
        pause_channel(lane->number);
    lane->paused |= request != CHAIN_GO_ON;
    cs = get(lane->number, BCM2835_CS);
    if (!(cs & BCM2835_CS_ERROR)) {
        if (has_ended(lane->number, cs))
            return CHAIN_ENDED;
        if (!lane->paused)
            return CHAIN_BUSY;
    }
    /* A channel that does not become quiet is reset after CHAIN_GIVE_UP, which ends it. */
    if (!is_quiet(lane->number, cs) && request != CHAIN_GIVE_UP)
        return CHAIN_STOPPING;
    return cs & BCM2835_CS_ERROR ? CHAIN_FAILED : CHAIN_STOPPED;
}

static uint32_t position(uint32_t channel, uint32_t chain, uint32_t count)
{
    const struct lane *lane = &lanes[channel];
    const uint32_t distance = get(lane->number, BCM2835_CONBLK_AD) - bus_of(lane->blocks[chain]);
    const uint32_t i = distance / (uint32_t)sizeof(lane->blocks[chain][0]);

    return i < count ? i : 0;
}

static uint64_t rows(uint32_t channel, uint32_t chain, uint32_t item,
                     const struct mli_descriptor *piece)
{
    const struct lane *lane = &lanes[channel];

    return bcm2835_block_rows(&lane->blocks[chain][item], piece,
                              get(lane->number, BCM2835_TXFR_LEN),
                              get(lane->number, BCM2835_DEST_AD));
}

static void clear(uint32_t channel, bool success)
{
    const uint32_t number = lanes[channel].number;

    if (success)
        set(number, BCM2835_CS, BCM2835_CS_INT | BCM2835_CS_END);
    else
        reset(number);
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
        .clock_ns = board.clock_ns,
    };

    lane->number = number_of(channel);
    lane->kind = kind_of(lane->number);
    lane->interrupt = port_option_get(&interrupt_option);
    if (!take(lane->number))
        return false;
    chain_open(&lane->chains, &setup);
    return true;
}

static void close_channel(uint32_t channel)
{
    if (lanes[channel].interrupt)
        board.mask(lanes[channel].number, true);
    reset(lanes[channel].number);
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
    board.mask(number, true);
    for (uint32_t channel = 0; channel < probe(); channel++) {
        if (number_of(channel) == number)
            mli_mov_interrupt(channel);
    }
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const bool connected = board.mask != NULL;
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
    return probe() > 0 ? "bcm2835: another program uses the channel"
                       : "bcm2835: the board has described no channels";
}

const struct mli_engine bcm2835_engine = {
    .size = sizeof(struct mli_engine),
    .name = "bcm2835",
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
