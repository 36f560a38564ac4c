/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data flow of a work item: submit takes the first piece of the plan and starts its first
 * block. Each poll collects the block that has ended and starts the next one. The pieces of the
 * processor come after those of the controller. The poll that finds no piece left calls done.
 *
 * No locks are needed: submit and poll of a channel follow one another, even with interrupts.
 */
#include <stdatomic.h>

#include "boards/drivers/pdma.h"
#include "libmli/port/option.h"

/* NextConfig: logarithms of the bytes of one read and of one write on the bus, up to 64 bytes */
#define PDMA_SIZE_MAX        6
#define PDMA_CONFIG_OF(size) ((uint32_t)(size) << 28 | (uint32_t)(size) << 24)

enum {
    BLOCK_DEFAULT = 64 * 1024,
    BLOCK_MIN = 64,
    /* Assumed, not measured on a board: a start and an interrupt take as long as a copy of this
       size by the processor. */
    PIECE_MIN_DEFAULT = 512,
    ZERO_BYTES = 4096,
    LINE = 1 << PDMA_SIZE_MAX
};

static struct lane {
    struct mli_legaliser rest;
    struct mli_descriptor piece; /* the piece that moves now: a row, or a piece of the processor */
    size_t moved;                /* bytes of the piece in blocks that have ended */
    size_t block;                /* bytes of the block that runs */
    size_t written;              /* bytes of the work item that are written */
    uint64_t began_ns;
    bool interrupt; /* interrupts signal completions */
    bool refused;   /* there is no memory at addresses of the piece */
    bool visible;   /* the processor sees what the controller has written */
    struct mli_work_end end;
    _Atomic(struct mli_work *) work; /* null: the channel is idle, and poll must not touch it */
} lanes[PDMA_CHANNELS];

static struct pdma_platform board;

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, block_option = BLOCK_DEFAULT,
                                          piece_option = PIECE_MIN_DEFAULT;

/* The source of zeros. Nothing writes to it. */
static _Alignas(LINE) uint8_t zeros[ZERO_BYTES + LINE];

/* Registers */

/* Orders accesses to memory and to registers. */
static void barrier(void)
{
#if defined(__riscv)
    __asm__ volatile("fence iorw, iorw" ::: "memory");
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

static volatile uint32_t *word(uint32_t channel, uint32_t offset)
{
    return (volatile uint32_t *)(board.base + (uintptr_t)channel * PDMA_CHANNEL_BYTES + offset);
}

static uint32_t read_control(uint32_t channel)
{
    return board.read ? (uint32_t)board.read(channel, PDMA_CONTROL) : *word(channel, PDMA_CONTROL);
}

static void write32(uint32_t channel, uint32_t offset, uint32_t value)
{
    if (board.write)
        board.write(channel, offset, value);
    else
        *word(channel, offset) = value;
}

/* The controller also accepts the two halves of a 64-bit register, the low one first. */
static void write64(uint32_t channel, uint32_t offset, uint64_t value)
{
    if (board.write) {
        board.write(channel, offset, value);
    } else {
#if UINTPTR_MAX > UINT32_MAX
        *(volatile uint64_t *)(volatile void *)word(channel, offset) = value;
#else
        *word(channel, offset) = (uint32_t)value;
        *word(channel, offset + 4) = (uint32_t)(value >> 32);
#endif
    }
}

static uint64_t now_ns(void)
{
    return board.clock_ns ? board.clock_ns() : 0;
}

/* Blocks */

/* Returns the logarithm of the largest power of two, up to LINE, that divides the number. */
static uint32_t alignment(uint64_t number)
{
    return (uint32_t)__builtin_ctzll(number | LINE);
}

/*
 * Returns the size of the next block in bytes. Sets *size to the binary logarithm of the bytes of a
 * bus transaction for it.
 * The manual does not say what happens to addresses or lengths that are not multiples of a
 * transaction, so the engine keeps to multiples: a row with unaligned ends becomes a block for the
 * head, one for the middle and one for the tail.
 */
static size_t next_block(uint64_t src, uint64_t dst, size_t left, uint32_t *size)
{
    const uint32_t best = alignment(src ^ dst), now = alignment(src | dst);
    const size_t line = (size_t)1 << best, most = port_option_get(&block_option);
    size_t bytes = left < most ? left : most;

    if (bytes >= 4 * line && now < best) /* the head: after it, both sides are aligned */
        bytes = line - (size_t)(src & (line - 1));
    else if (bytes >= 4 * line)
        bytes -= bytes & (line - 1);
    *size = alignment(src | dst | bytes);
    return bytes;
}

static bool has_memory(uint64_t address, size_t bytes)
{
    return !board.has_memory || board.has_memory(address, bytes);
}

/* Starts the next block of the piece, or refuses the piece. */
static void start_block(uint32_t channel, struct lane *lane)
{
    const uint32_t enables = lane->interrupt ? PDMA_DONE_IE | PDMA_ERROR_IE : 0;
    const uint8_t *from = lane->piece.box.src + lane->moved;
    uint8_t *to = lane->piece.box.dst + lane->moved;
    size_t left = lane->piece.bytes - lane->moved;
    uint64_t src, dst = mli_bus_address(to);
    uint32_t size;

    if (!lane->piece.box.src) { /* zeros that are aligned like the destination */
        from = zeros + (dst & (LINE - 1));
        left = left < ZERO_BYTES ? left : ZERO_BYTES;
    }
    src = mli_bus_address(from);
    lane->block = next_block(src, dst, left, &size);
    lane->refused = !has_memory(src, lane->block) || !has_memory(dst, lane->block);
    if (lane->refused)
        return;
    write32(channel, PDMA_NEXT_CONFIG, PDMA_CONFIG_OF(size));
    write64(channel, PDMA_NEXT_BYTES, lane->block);
    write64(channel, PDMA_NEXT_DESTINATION, dst);
    write64(channel, PDMA_NEXT_SOURCE, src);
    barrier(); /* the source is in memory before the channel reads it */
    write32(channel, PDMA_CONTROL, PDMA_CLAIM | PDMA_RUN | enables);
}

/* The result of a step of a work item. */
enum step { WAITS, MOVED, ENDED };

static bool is_for_processor(const struct lane *lane)
{
    return lane->piece.flags & MLI_PIECE_CPU;
}

/* Takes the next piece if the lane has none. Returns false at the end of the plan. */
static bool take_piece(struct lane *lane)
{
    if (lane->moved < lane->piece.bytes)
        return true;
    lane->moved = 0;
    return mli_legalise_next(&lane->rest, &lane->piece);
}

/* Ends the work item before it moves the current piece. */
static enum step end_with(struct lane *lane, mli_status status)
{
    lane->end = (struct mli_work_end){.status = status, .bytes = lane->written};
    if (status != MLI_STATUS_OK) {
        lane->end.descriptor = lane->piece.index;
        lane->end.row = lane->piece.row;
    }
    return ENDED;
}

/*
 * Makes what the controller has written visible to the processor. The controller no longer writes.
 */
static void make_visible(struct lane *lane, const struct mli_work *work)
{
    if (!lane->visible)
        mli_work_invalidate(work);
    lane->visible = true;
}

/* Counts bytes that are moved, and starts the next block or ends the work item. */
static enum step go_on(uint32_t channel, struct lane *lane, struct mli_work *work, size_t bytes)
{
    lane->moved += bytes;
    lane->written += bytes;
    mli_work_progress(work, lane->written);
    if (!take_piece(lane))
        return end_with(lane, MLI_STATUS_OK);
    if (mli_work_cancelled(work))
        return end_with(lane, MLI_STATUS_CANCELLED);
    if (!is_for_processor(lane))
        start_block(channel, lane);
    return MOVED;
}

static enum step step_of_processor(uint32_t channel, struct lane *lane, struct mli_work *work)
{
    if (mli_work_cancelled(work))
        return end_with(lane, MLI_STATUS_CANCELLED);
    make_visible(lane, work);
    mli_piece_move(work, &lane->piece);
    return go_on(channel, lane, work, lane->piece.bytes);
}

/* Collects the block that has ended, if any. */
static enum step step_of_controller(uint32_t channel, struct lane *lane, struct mli_work *work)
{
    const uint32_t control = read_control(channel);

    if (lane->refused)
        return end_with(lane, MLI_STATUS_DMA_ERROR);
    if (!(control & (PDMA_DONE | PDMA_ERROR))) {
        /* A channel that neither runs nor has ended is stuck; only a cancel ends its work item. */
        return !(control & PDMA_RUN) && mli_work_cancelled(work)
                   ? end_with(lane, MLI_STATUS_CANCELLED)
                   : WAITS;
    }
    write32(channel, PDMA_CONTROL, PDMA_CLAIM); /* clears DONE and ERROR, and so the interrupts */
    barrier(); /* the program reads the destination after this point */
    if (control & PDMA_ERROR)
        return end_with(lane, MLI_STATUS_DMA_ERROR);
    return go_on(channel, lane, work, lane->block);
}

/* Arranges for the next poll: by the interrupt of the block that runs, or at once. */
static void await_next(uint32_t channel, const struct lane *lane)
{
    if (!lane->interrupt)
        return;
    if (is_for_processor(lane) || lane->refused)
        mli_channel_again(channel);
    else
        board.enable_interrupts(channel, true);
}

/* The functions of the engine */

static uint32_t probe(void)
{
    return board.channels < PDMA_CHANNELS ? board.channels : PDMA_CHANNELS;
}

/* A descriptor is a row; rows that are longer than a block are cut when they start. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = port_option_get(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    caps->piece_min = port_option_get(&piece_option);
}

/* Claims the channel, which clears its registers. */
static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->interrupt = port_option_get(&interrupt_option);
    write32(channel, PDMA_CONTROL, 0);
    write32(channel, PDMA_CONTROL, PDMA_CLAIM);
    mli_cache_clean(zeros, sizeof(zeros));
    return true;
}

static void close_channel(uint32_t channel)
{
    if (lanes[channel].interrupt)
        board.enable_interrupts(channel, false);
    write32(channel, PDMA_CONTROL, 0);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    mli_legalise_init(&lane->rest, work->plan, &limits);
    lane->piece.bytes = lane->moved = lane->written = 0;
    lane->refused = lane->visible = false;
    lane->began_ns = now_ns();
    mli_work_clean(work);
    (void)take_piece(lane); /* a plan is never empty */
    if (!is_for_processor(lane))
        start_block(channel, lane);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    await_next(channel, lane);
}

/* With interrupts, each poll takes one step, so that handlers are short. */
static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    enum step step = WAITS;
    uint32_t steps = 0;

    if (!work)
        return 0;
    if (lane->interrupt && budget > 1)
        budget = 1;
    while (steps < budget) {
        step = is_for_processor(lane) ? step_of_processor(channel, lane, work)
                                      : step_of_controller(channel, lane, work);
        if (step != MOVED)
            break;
        steps++;
    }
    if (step != ENDED) {
        await_next(channel, lane);
        return steps;
    }
    make_visible(lane, work);
    lane->end.busy_ns = now_ns() - lane->began_ns;
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    work->done(work, &lane->end); /* done() may give the lane its next work item, so call it last */
    return steps + 1;
}

void pdma_interrupt(uint32_t channel)
{
    board.enable_interrupts(channel, false);
    mli_mov_interrupt(channel);
}

static void synchronise(uint32_t channel)
{
    while ((read_control(channel) & (PDMA_RUN | PDMA_DONE | PDMA_ERROR)) == PDMA_RUN)
        ;
}

/* The controller has no queue. */
static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    (void)channel;
    stats->queue_high_water = stats->submitted > 0;
}

static bool option(const char *key, size_t length, uint64_t value)
{
    const struct port_option options[] = {
        {"interrupt", &interrupt_option, 0, 0, board.enable_interrupts ? 1 : 0},
        {"block", &block_option, BLOCK_DEFAULT, BLOCK_MIN, UINT32_C(1) << 31},
        {"piece_min", &piece_option, PIECE_MIN_DEFAULT, 0, UINT32_MAX},
    };

    return port_option_set(options, sizeof(options) / sizeof(options[0]), key, length, value);
}

void pdma_set_platform(const struct pdma_platform *platform)
{
    board = *platform;
}

const struct mli_engine pdma_engine = {
    .size = sizeof(struct mli_engine),
    .name = "pdma",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
    .poll = poll,
    .synchronise = synchronise,
    .stats = stats,
    .option = option,
};
