/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data flow of a work item: submit takes the first piece of the plan and starts its first
 * block. Whenever a block has ended, collect() starts the next one, in a poll or in the interrupt
 * handler; after the last block it ends the work item.
 *
 * A lane belongs to the code that holds the lock of its channel. With polling no lock is needed:
 * submit and poll of a channel follow one another.
 */
#include "libmli/port/pdma/pdma_engine.h"

#include <stdatomic.h>

#include "libmli/port/pdma/pdma_registers.h"

enum { BLOCK_DEFAULT = 64 * 1024, BLOCK_MIN = 64, ZERO_BYTES = 4096, LINE = 1 << PDMA_SIZE_MAX };

static struct lane {
    struct mli_legaliser rest;
    struct mli_descriptor piece; /* the piece that the channel moves: one row */
    size_t moved;                /* bytes of the piece in blocks that have ended */
    size_t block;                /* bytes of the block that runs */
    size_t written;              /* bytes of the work item in blocks that have ended */
    uint64_t began_ns;
    _Atomic(struct mli_work *)
        work; /* null: the channel is idle, and poll must not touch the lane */
} lanes[PDMA_CHANNELS];

static struct pdma_platform board;

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, block_option = BLOCK_DEFAULT;

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

/* Clears DONE and ERROR, so that the interrupt lines of the channel fall. */
static void acknowledge(uint32_t channel)
{
    write32(channel, PDMA_CONTROL, PDMA_CLAIM);
}

/* Locks */

static uintptr_t lock(uint32_t channel)
{
    return board.lock ? board.lock(channel) : 0;
}

static void unlock(uint32_t channel, uintptr_t before)
{
    if (board.unlock)
        board.unlock(channel, before);
}

static uint64_t now_ns(void)
{
    return board.clock_ns ? board.clock_ns() : 0;
}

static struct mli_work *work_of(struct lane *lane)
{
    return atomic_load_explicit(&lane->work, memory_order_acquire);
}

/* Blocks */

/* Returns the logarithm of the largest power of two that divides the number, at most a line. */
static uint32_t alignment(uintptr_t number)
{
    return (uint32_t)__builtin_ctzll((uint64_t)number | LINE);
}

/*
 * Returns the bytes of the next block, and sets *size to the logarithm of its transactions. The
 * manual does not say what happens to addresses or lengths that are not multiples of a transaction,
 * so both always are: a row whose ends are not aligned like its middle becomes a block for the
 * head, one for the middle and one for the tail.
 */
static size_t next_block(uintptr_t src, uintptr_t dst, size_t left, uint32_t *size)
{
    const uint32_t best = alignment(src ^ dst), now = alignment(src | dst);
    const size_t line = (size_t)1 << best,
                 most = atomic_load_explicit(&block_option, memory_order_relaxed);
    size_t bytes = left < most ? left : most;

    if (bytes >= 4 * line && now < best) /* a head, up to the address where both are aligned */
        bytes = line - (src & (line - 1));
    else if (bytes >= 4 * line)
        bytes -= bytes & (line - 1);
    *size = alignment(src | dst | bytes);
    return bytes;
}

/* Starts the next block of the piece. The lane is locked. */
static void start_block(uint32_t channel, struct lane *lane)
{
    const bool by_interrupt = atomic_load_explicit(&interrupt_option, memory_order_relaxed);
    const uint32_t enables = by_interrupt ? PDMA_DONE_IE | PDMA_ERROR_IE : 0;
    const uintptr_t dst = (uintptr_t)lane->piece.box.dst + lane->moved;
    size_t left = lane->piece.bytes - lane->moved;
    uintptr_t src = (uintptr_t)lane->piece.box.src + lane->moved;
    uint32_t size;

    if (!lane->piece.box.src) { /* zeros that are aligned like the destination */
        src = (uintptr_t)zeros + (dst & (LINE - 1));
        left = left < ZERO_BYTES ? left : ZERO_BYTES;
    }
    lane->block = next_block(src, dst, left, &size);
    write32(channel, PDMA_NEXT_CONFIG, PDMA_CONFIG_OF(size));
    write64(channel, PDMA_NEXT_BYTES, lane->block);
    write64(channel, PDMA_NEXT_DESTINATION, dst);
    write64(channel, PDMA_NEXT_SOURCE, src);
    barrier(); /* the source is in memory before the channel reads it */
    write32(channel, PDMA_CONTROL, PDMA_CLAIM | PDMA_RUN | enables);
}

/* Takes the next piece if the lane has none. Returns false at the end of the plan. */
static bool take_piece(struct lane *lane)
{
    if (lane->moved < lane->piece.bytes)
        return true;
    lane->moved = 0;
    return mli_legalise_next(&lane->rest, &lane->piece);
}

/* Ends the work item at the current piece, and leaves the channel idle. Returns the work item. */
static struct mli_work *finish(uint32_t channel, mli_status status, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = work_of(lane);

    *end = (struct mli_work_end){.status = status, .bytes = lane->written};
    if (status != MLI_STATUS_OK) {
        end->descriptor = lane->piece.index;
        end->row = lane->piece.row;
    }
    if (board.clock_ns)
        end->busy_ns = now_ns() - lane->began_ns;
    atomic_store_explicit(&lane->work, NULL, memory_order_release);
    return work;
}

/*
 * Collects the block that has ended and starts the next one. Returns false if no block has ended.
 * Sets *ended to the work item if it has ended, with *end, else to null: the caller calls done
 * without the lock. The lane is locked.
 */
static bool collect(uint32_t channel, struct mli_work **ended, struct mli_work_end *end)
{
    struct lane *lane = &lanes[channel];
    const uint32_t control = read_control(channel);
    struct mli_work *work = work_of(lane);

    const bool stopped = control & (PDMA_DONE | PDMA_ERROR);

    *ended = NULL;
    if (stopped)
        acknowledge(channel); /* also without a work item: the interrupt would come again */
    if (!work)
        return false;
    if (!stopped) {
        /* A channel that neither runs nor has ended is stuck; only a cancel ends its work item. */
        if (!(control & PDMA_RUN) && mli_work_cancelled(work))
            *ended = finish(channel, MLI_STATUS_CANCELLED, end);
        return false;
    }
    if (control & PDMA_ERROR) {
        *ended = finish(channel, MLI_STATUS_DMA_ERROR, end);
        return true;
    }
    barrier(); /* the program reads the destination after this point */
    lane->moved += lane->block;
    lane->written += lane->block;
    mli_work_progress(work, lane->written);
    if (!take_piece(lane))
        *ended = finish(channel, MLI_STATUS_OK, end);
    else if (mli_work_cancelled(work))
        *ended = finish(channel, MLI_STATUS_CANCELLED, end);
    else
        start_block(channel, lane);
    return true;
}

/*
 * Collects at most one block, and completes the work item if it has ended. Adds to *blocks. Returns
 * whether to call it again at once: not after done, because the lane may have its next work item
 * then, of another thread.
 */
static bool serve(uint32_t channel, uint32_t *blocks)
{
    struct mli_work_end end;
    const uintptr_t before = lock(channel);
    struct mli_work *ended;
    const bool any = collect(channel, &ended, &end);

    unlock(channel, before);
    *blocks += any;
    if (ended)
        ended->done(ended, &end);
    return any && !ended;
}

/* The functions of the engine */

static uint32_t probe(void)
{
    return board.channels < PDMA_CHANNELS ? board.channels : PDMA_CHANNELS;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags =
        atomic_load_explicit(&interrupt_option, memory_order_relaxed) ? 0 : MLI_CHANNEL_POLLED;
    caps->loops = 0; /* a descriptor is a row; longer rows than a block are cut when they start */
}

/* Claims the channel, which clears its registers. */
static bool open_channel(uint32_t channel)
{
    lanes[channel] = (struct lane){0};
    write32(channel, PDMA_CONTROL, 0);
    write32(channel, PDMA_CONTROL, PDMA_CLAIM);
    return true;
}

static void close_channel(uint32_t channel)
{
    write32(channel, PDMA_CONTROL, 0);
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};
    const uintptr_t before = lock(channel);

    caps(channel, &limits);
    mli_legalise_init(&lane->rest, work->plan, &limits);
    lane->piece.bytes = lane->moved = lane->written = 0;
    lane->began_ns = now_ns();
    if (take_piece(lane)) /* a plan is never empty */
        start_block(channel, lane);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    unlock(channel, before);
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    uint32_t blocks = 0;

    while (blocks < budget && work_of(&lanes[channel]) && serve(channel, &blocks))
        ;
    return blocks;
}

void pdma_interrupt(uint32_t channel)
{
    uint32_t blocks = 0;

    if (channel < PDMA_CHANNELS)
        (void)serve(channel, &blocks);
}

/*
 * With interrupts, nothing else looks at a channel that is stuck. poll looks at the channels of a
 * polled engine, and is the only one to do so.
 */
static void cancel(uint32_t channel)
{
    struct mli_work_end end;
    struct mli_work *ended = NULL, *work;
    uintptr_t before;

    if (!atomic_load_explicit(&interrupt_option, memory_order_relaxed))
        return;
    before = lock(channel);
    work = work_of(&lanes[channel]);
    if (work && mli_work_cancelled(work))
        (void)collect(channel, &ended, &end);
    unlock(channel, before);
    if (ended)
        ended->done(ended, &end);
}

static void synchronise(uint32_t channel)
{
    while ((read_control(channel) & (PDMA_RUN | PDMA_DONE | PDMA_ERROR)) == PDMA_RUN)
        ;
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    (void)channel;
    stats->queue_high_water = stats->submitted > 0; /* the controller has no queue */
}

static bool is(const char *key, size_t length, const char *name)
{
    size_t i = 0;

    while (i < length && name[i] == key[i])
        i++;
    return i == length && name[i] == '\0';
}

static bool option(const char *key, size_t length, uint64_t value)
{
    if (length == 0) {
        interrupt_option = 0;
        block_option = BLOCK_DEFAULT;
    } else if (is(key, length, "interrupt") && value <= (board.lock && board.unlock ? 1 : 0)) {
        interrupt_option = (uint32_t)value;
    } else if (is(key, length, "block") && value >= BLOCK_MIN && value <= UINT32_C(1) << 31) {
        block_option = (uint32_t)value;
    } else {
        return false;
    }
    return true;
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
    .cancel = cancel,
    .synchronise = synchronise,
    .stats = stats,
    .option = option,
};
