/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each channel has two lists of control blocks. submit fills the first list and starts it; polls
 * fill the other one meanwhile. The poll that finds a list complete starts the other at once, then
 * collects the pieces of the complete list.
 *
 * Errors. A channel that gets a read error clears ACTIVE and keeps its registers: CONBLK_AD names
 * the block, TXFR_LEN and DEST_AD name the row. The controller reports no write errors.
 *
 * Cancel. The channel is paused, in any state. When the responses to its writes have come, the
 * registers name the row, and a reset makes the channel forget the block. ABORT is not used: it
 * goes on with the next block.
 *
 * Only submit and poll write the registers of a channel, so they need no lock. The interrupt
 * handler masks the interrupt; poll clears it, and unmasks it when it starts a list.
 */
#include "libmli/port/bcm2835/bcm2835_engine.h"

#include <stdatomic.h>

#include "libmli/port/bcm2835/bcm2835_device.h"
#include "libmli/port/bcm2835/bcm2835_list.h"

enum {
    LISTS = 2,
    STOP_READS = 10000, /* polls of a cancelled channel until it is reset in any case */
};

enum phase {
    IDLE,    /* the channel has no block */
    RUNNING, /* the channel executes lists[running] */
    STOPPING /* the channel has an error or a pause, and may still wait for responses */
};

static struct lane {
    struct bcm2835_list lists[LISTS];
    struct bcm2835_rest rest;
    uint32_t running; /* the list of the channel, or that of its last blocks */
    uint32_t number;  /* the channel of the controller */
    enum phase phase;
    uint32_t stop_reads;
    size_t written;
    uint64_t began, busy_ns;
    bool visible; /* the processor's cache has nothing of the destination */
    bool interrupt;
    _Atomic(struct mli_work *) work; /* null: poll must not touch the lane */
    _Atomic uint32_t high_water;
} lanes[BCM2835_CHANNELS_MAX];

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, blocks_option = BCM2835_BLOCKS_MAX,
                                          run_option = BCM2835_RUN_DEFAULT,
                                          piece_option = BCM2835_PIECE_DEFAULT, lite_option;

static uint32_t value_of(_Atomic uint32_t *option_value)
{
    return atomic_load_explicit(option_value, memory_order_relaxed);
}

static uint64_t now(void)
{
    return bcm2835_platform.clock_ns ? bcm2835_platform.clock_ns() : 0;
}

void bcm2835_set_platform(const struct bcm2835_platform *platform)
{
    bcm2835_platform = *platform;
    atomic_store_explicit(&interrupt_option, platform->mask != NULL, memory_order_relaxed);
}

static enum bcm2835_kind kind_of(uint32_t number)
{
    return value_of(&lite_option) ? BCM2835_LITE : bcm2835_kind_of(number);
}

/* `tiny` stays 0: measure the size for a board. */
static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    caps->flags = value_of(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    bcm2835_block_limits(kind_of(bcm2835_number(channel)), caps);
    caps->granularity = bcm2835_platform.unit;
    caps->run_min = value_of(&run_option);
    caps->piece_min = value_of(&piece_option);
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    lane->number = bcm2835_number(channel);
    lane->interrupt = value_of(&interrupt_option);
    if (!bcm2835_take(lane->number))
        return false;
    lane->rest.kind = kind_of(lane->number);
    lane->rest.list_max = value_of(&blocks_option);
    lane->phase = IDLE;
    atomic_store_explicit(&lane->high_water, 0, memory_order_relaxed);
    return true;
}

static void close_channel(uint32_t channel)
{
    if (lanes[channel].interrupt)
        bcm2835_platform.mask(lanes[channel].number, true);
    bcm2835_reset(lanes[channel].number);
}

/* Returns the list that the channel does not execute. */
static struct bcm2835_list *other_list(struct lane *lane)
{
    return &lane->lists[1 - lane->running];
}

/* Fills the other list, if it is empty. */
static void prepare(struct lane *lane)
{
    struct bcm2835_list *list = other_list(lane);

    if (!bcm2835_list_is_reaped(list))
        return;
    bcm2835_list_fill(list, &lane->rest);
    if (list->count > value_of(&lane->high_water))
        atomic_store_explicit(&lane->high_water, list->count, memory_order_relaxed);
}

/* Starts the other list, if it has blocks, and unmasks the interrupt. */
static bool start_other(struct lane *lane)
{
    const struct bcm2835_list *list = other_list(lane);

    if (bcm2835_list_is_reaped(list))
        return false;
    lane->running = 1 - lane->running;
    lane->phase = RUNNING;
    lane->began = now();
    bcm2835_start(lane->number, bcm2835_list_address(list));
    if (lane->interrupt)
        bcm2835_platform.mask(lane->number, false);
    return true;
}

/* The channel has no block any more. */
static void become_idle(struct lane *lane)
{
    lane->phase = IDLE;
    lane->busy_ns += now() - lane->began;
    bcm2835_barrier(); /* what the channel has written is read after this */
}

static void submit(uint32_t channel, struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    struct mli_channel_caps limits = {0};

    caps(channel, &limits);
    mli_legalise_init(&lane->rest.legaliser, work->plan, &limits);
    lane->written = 0;
    lane->busy_ns = 0;
    lane->stop_reads = 0;
    lane->visible = false;
    lane->rest.for_processor = false;
    for (size_t i = 0; i < LISTS; i++)
        lane->lists[i].count = lane->lists[i].reaped = 0;
    mli_work_clean(work);
    prepare(lane);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    if (!start_other(lane))
        mli_channel_again(channel); /* the channel will raise no interrupt */
}

/* Makes the bytes that the channel has written visible to the processor. */
static void make_visible(struct lane *lane, const struct mli_work *work)
{
    if (!lane->visible)
        mli_work_invalidate(work);
    lane->visible = true;
}

/* Returns the end of a work item that stopped in a piece, after `rows` of its rows. */
static struct mli_work_end end_at(const struct lane *lane, mli_status status,
                                  const struct mli_descriptor *piece, uint64_t rows)
{
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece->index,
        .row = mli_piece_row(lane->rest.legaliser.plan, piece, rows),
        .bytes = lane->written + rows * piece->box.run,
    };
}

/* Returns the end in the current block of the running list. */
static struct mli_work_end end_in_list(const struct lane *lane, mli_status status)
{
    const struct bcm2835_list *list = &lane->lists[lane->running];
    const struct mli_descriptor *piece = &list->pieces[list->reaped];

    return end_at(lane, status, piece,
                  bcm2835_block_rows(&list->blocks[list->reaped], piece,
                                     bcm2835_get(lane->number, BCM2835_TXFR_LEN),
                                     bcm2835_get(lane->number, BCM2835_DEST_AD)));
}

/*
 * Returns the end of a work item that was cancelled, and whose channel is idle: at the first piece
 * that was not started, or success if there is none.
 */
static struct mli_work_end end_cancelled(struct lane *lane)
{
    const struct bcm2835_list *next = other_list(lane);

    if (!bcm2835_list_is_reaped(next))
        return end_at(lane, MLI_STATUS_CANCELLED, &next->pieces[0], 0);
    if (lane->rest.for_processor || mli_legalise_next(&lane->rest.legaliser, &lane->rest.piece))
        return end_at(lane, MLI_STATUS_CANCELLED, &lane->rest.piece, 0);
    return (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = lane->written};
}

/* Moves the piece of the processor. */
static void help(struct lane *lane, struct mli_work *work)
{
    make_visible(lane, work);
    mli_piece_move(work, &lane->rest.piece);
    lane->written += lane->rest.piece.bytes;
    lane->rest.for_processor = false;
}

/* What a channel does. */
enum state { BUSY, ENDED, FAILED, STOPPED };

/* Reads the status, and pauses the channel of a work item that is cancelled. */
static enum state look(struct lane *lane, const struct mli_work *work)
{
    uint32_t cs;

    if (lane->phase == IDLE)
        return ENDED;
    if (lane->phase == RUNNING && mli_work_cancelled(work)) {
        lane->phase = STOPPING;
        bcm2835_pause(lane->number);
    }
    cs = bcm2835_get(lane->number, BCM2835_CS);
    if (cs & BCM2835_CS_ERROR)
        lane->phase = STOPPING;
    else if (bcm2835_has_ended(lane->number, cs))
        return ENDED;
    if (lane->phase != STOPPING)
        return BUSY;
    /* A channel that does not become quiet is reset in the end. */
    if (!bcm2835_is_quiet(lane->number, cs) && ++lane->stop_reads < STOP_READS)
        return BUSY;
    return cs & BCM2835_CS_ERROR ? FAILED : STOPPED;
}

/* Calls done. It is the last access to the lane, which may have its next work item after that. */
static void finish(struct lane *lane, struct mli_work *work, struct mli_work_end end)
{
    if (lane->phase != IDLE)
        become_idle(lane);
    if (end.status == MLI_STATUS_OK)
        bcm2835_set(lane->number, BCM2835_CS, BCM2835_CS_INT | BCM2835_CS_END);
    else
        bcm2835_reset(lane->number);
    end.busy_ns = lane->busy_ns;
    make_visible(lane, work);
    atomic_store_explicit(&lane->work, NULL, memory_order_relaxed);
    work->done(work, &end);
}

/*
 * The channel is idle: starts the next list, has the processor move a piece, or ends the work.
 * Returns the number of pieces that the processor moved.
 */
static uint32_t go_on(uint32_t channel, struct mli_work *work, bool may_help)
{
    struct lane *lane = &lanes[channel];
    struct mli_work_end end = {.status = MLI_STATUS_OK, .bytes = lane->written};

    if (mli_work_cancelled(work)) {
        finish(lane, work, end_cancelled(lane));
        return 0;
    }
    prepare(lane);
    if (start_other(lane)) {
        prepare(lane);
        return 0;
    }
    if (!lane->rest.for_processor) {
        finish(lane, work, end);
        return 0;
    }
    if (may_help)
        help(lane, work);
    mli_work_progress(work, lane->written);
    mli_channel_again(channel); /* the channel will raise no interrupt */
    return may_help;
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    struct bcm2835_list *list = &lane->lists[lane->running];
    enum state state;
    uint32_t upto, reaped;

    if (!work)
        return 0;
    state = look(lane, work);
    if (state == ENDED && lane->phase != IDLE)
        become_idle(lane);
    upto = state == ENDED
               ? list->count
               : bcm2835_list_position(list, bcm2835_get(lane->number, BCM2835_CONBLK_AD));
    reaped = bcm2835_list_reap(list, upto, budget, &lane->written);
    mli_work_progress(work, lane->written);
    if (list->reaped < upto || (state == BUSY && lane->phase == STOPPING)) {
        mli_channel_again(channel); /* the budget is used up, or the channel is about to stop */
    } else if (state == BUSY) {
        prepare(lane);
    } else if (state == ENDED) {
        reaped += go_on(channel, work, reaped < budget);
    } else {
        finish(lane, work,
               end_in_list(lane, state == FAILED ? MLI_STATUS_DMA_ERROR : MLI_STATUS_CANCELLED));
    }
    return reaped;
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < BCM2835_CHANNELS_MAX)
        stats->queue_high_water = value_of(&lanes[channel].high_water);
}

void bcm2835_interrupt(uint32_t number)
{
    bcm2835_platform.mask(number, true);
    for (uint32_t channel = 0; channel < bcm2835_channels(); channel++) {
        if (bcm2835_number(channel) == number)
            mli_mov_interrupt(channel);
    }
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
        interrupt_option = bcm2835_platform.mask != NULL;
        blocks_option = BCM2835_BLOCKS_MAX;
        run_option = BCM2835_RUN_DEFAULT;
        piece_option = BCM2835_PIECE_DEFAULT;
        lite_option = 0;
    } else if (is(key, length, "interrupt") && value <= (bcm2835_platform.mask != NULL)) {
        interrupt_option = (uint32_t)value;
    } else if (is(key, length, "blocks") && value >= 1 && value <= BCM2835_BLOCKS_MAX) {
        blocks_option = (uint32_t)value;
    } else if (is(key, length, "run") && value <= UINT32_MAX) {
        run_option = (uint32_t)value;
    } else if (is(key, length, "piece") && value <= UINT32_MAX) {
        piece_option = (uint32_t)value;
    } else if (is(key, length, "lite") && value <= 1) {
        lite_option = (uint32_t)value;
    } else {
        return false;
    }
    return true;
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
