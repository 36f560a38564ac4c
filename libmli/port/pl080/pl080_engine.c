/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each channel has two lists of items. submit fills the first list and starts it; polls fill the
 * second list meanwhile. The poll that finds a list complete starts the other list at once.
 *
 * Ends. A channel that has executed its last item, or that had an error, disables itself. All
 * channels share one interrupt, and the register that ends it also forgets the error, so
 * pl080_interrupt() keeps errors in the lanes. A poll reads first whether the channel is enabled,
 * then whether it had an error: a disabled channel gets no other error.
 *
 * Errors. The register LLI names the item after the one that failed. Its piece is reported: the
 * manual does not promise more.
 *
 * Cancel. The channel is halted, and disabled when its FIFO is empty. A channel whose FIFO does not
 * become empty is disabled after a number of polls; it then ends with its current transfer.
 */
#include "libmli/port/pl080/pl080_engine.h"

#include <stdatomic.h>

#include "libmli/port/pl080/pl080_list.h"

enum {
    LISTS = 2,
    STOP_READS = 10000, /* polls of a halted channel until it is disabled in any case */
    PART_PL080 = 0x080,
    PART_PL081 = 0x081, /* two channels and one master */
};

enum phase {
    IDLE,     /* the channel has no item */
    RUNNING,  /* the channel executes lists[running] */
    HALTING,  /* the channel takes no more data, and its FIFO may have some */
    DISABLING /* the channel may be in its last transfer */
};

static struct lane {
    struct pl080_list lists[LISTS];
    struct pl080_rest rest;
    uint32_t running; /* the list of the channel */
    enum phase phase;
    uint32_t stop_reads;
    size_t written;
    uint64_t began, busy_ns;
    bool visible; /* the processor's cache has nothing of the destination */
    bool interrupt;
    _Atomic uint32_t failed;         /* the interrupt handler has cleared an error of the channel */
    _Atomic(struct mli_work *) work; /* null: poll must not touch the lane */
    _Atomic uint32_t high_water;
} lanes[PL080_CHANNELS_MAX];

static struct pl080_platform board;

/* Atomic, because any thread may call the caps operation at any time. */
static _Atomic uint32_t interrupt_option, items_option = PL080_ITEMS_MAX,
                                          run_option = PL080_RUN_DEFAULT,
                                          piece_option = PL080_PIECE_DEFAULT;

static uint32_t value_of(_Atomic uint32_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void set_value(_Atomic uint32_t *to, uint32_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}

static uint64_t now(void)
{
    return board.clock_ns ? board.clock_ns() : 0;
}

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

/* Orders accesses to memory before the accesses to registers that follow, and the reverse. */
static void barrier(void)
{
#if defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ volatile("dsb sy" ::: "memory");
#elif defined(__arm__) && !defined(__thumb__) && !defined(__unix__)
    __asm__ volatile("mcr p15, 0, %0, c7, c10, 4" ::"r"(0) : "memory"); /* drain the write buffer */
#else
    __sync_synchronize();
#endif
}

void pl080_set_platform(const struct pl080_platform *platform)
{
    board = *platform;
    set_value(&interrupt_option, platform->interrupts);
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
    caps->flags = value_of(&interrupt_option) ? MLI_CHANNEL_INTERRUPT : MLI_CHANNEL_POLLED;
    pl080_list_limits(caps);
    caps->run_min = value_of(&run_option);
    caps->piece_min = value_of(&piece_option);
}

/* Disables an idle channel, and clears its interrupts and errors. */
static void reset(uint32_t channel)
{
    const uintptr_t before = lock();

    set(channel_register(channel, PL080_C_CONFIGURATION), 0);
    set(PL080_INT_TC_CLEAR, 1u << channel);
    set(PL080_INT_ERROR_CLEAR, 1u << channel);
    set_value(&lanes[channel].failed, 0);
    unlock(before);
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    if (get(PL080_ENABLED_CHANNELS) >> channel & 1)
        return false;
    lane->interrupt = value_of(&interrupt_option);
    lane->rest.items_max = value_of(&items_option);
    lane->phase = IDLE;
    set_value(&lane->high_water, 0);
    set(PL080_CONFIGURATION, PL080_ENABLE);
    reset(channel);
    return true;
}

static void close_channel(uint32_t channel)
{
    reset(channel);
}

/* Returns the list that the channel does not execute. */
static struct pl080_list *other_list(struct lane *lane)
{
    return &lane->lists[1 - lane->running];
}

/* Fills the list that the channel does not execute, if the list is empty. */
static void prepare(struct lane *lane)
{
    struct pl080_list *list = other_list(lane);

    if (!pl080_list_is_reaped(list))
        return;
    pl080_list_fill(list, &lane->rest);
    if (list->count > value_of(&lane->high_water))
        set_value(&lane->high_water, list->count);
}

/*
 * Starts the list that the channel does not execute, if the list has items: loads the first item
 * into the registers.
 */
static bool start_other(uint32_t channel)
{
    struct lane *lane = &lanes[channel];
    const struct pl080_item *item = &other_list(lane)->items[0];
    uintptr_t before;

    if (pl080_list_is_reaped(other_list(lane)))
        return false;
    lane->running = 1 - lane->running;
    lane->phase = RUNNING;
    lane->began = now();
    before = lock();
    set(PL080_INT_TC_CLEAR, 1u << channel);
    set(PL080_INT_ERROR_CLEAR, 1u << channel);
    set_value(&lane->failed, 0);
    set(channel_register(channel, PL080_C_SRC), item->src);
    set(channel_register(channel, PL080_C_DST), item->dst);
    set(channel_register(channel, PL080_C_LLI), item->next);
    set(channel_register(channel, PL080_C_CONTROL), item->control);
    barrier();
    set(channel_register(channel, PL080_C_CONFIGURATION),
        PL080_C_ENABLE | (lane->interrupt ? PL080_C_TC_INTERRUPT | PL080_C_ERROR_INTERRUPT : 0));
    unlock(before);
    return true;
}

/* The channel has no item any more. */
static void become_idle(struct lane *lane)
{
    lane->phase = IDLE;
    lane->busy_ns += now() - lane->began;
    barrier(); /* what the channel has written is read after this */
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
        lane->lists[i].pieces_count = lane->lists[i].reaped = 0;
    mli_work_clean(work);
    prepare(lane);
    atomic_store_explicit(&lane->work, work, memory_order_release);
    if (!start_other(channel))
        mli_channel_again(channel); /* the channel will raise no interrupt */
}

/* Makes the bytes that the channel has written visible to the processor. */
static void make_visible(struct lane *lane, const struct mli_work *work)
{
    if (!lane->visible)
        mli_work_invalidate(work);
    lane->visible = true;
}

/* Returns the end of a work item that stopped in a piece, which is one row or a part of it. */
static struct mli_work_end end_at(const struct lane *lane, mli_status status,
                                  const struct mli_descriptor *piece)
{
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece->index,
        .row = piece->row,
        .bytes = lane->written,
    };
}

/*
 * Returns the end of a work item that was cancelled, and whose channel is idle: at the first piece
 * that was not started, or success if there is none.
 */
static struct mli_work_end end_cancelled(struct lane *lane)
{
    const struct pl080_list *next = other_list(lane);

    if (!pl080_list_is_reaped(next))
        return end_at(lane, MLI_STATUS_CANCELLED, &next->pieces[0]);
    if (lane->rest.for_processor || mli_legalise_next(&lane->rest.legaliser, &lane->rest.piece))
        return end_at(lane, MLI_STATUS_CANCELLED, &lane->rest.piece);
    return (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = lane->written};
}

/* The state of a channel. */
enum state { BUSY, ENDED, FAILED, STOPPED };

static void configure(uint32_t channel, uint32_t value)
{
    set(channel_register(channel, PL080_C_CONFIGURATION), value);
}

/* Halts or disables a channel that must stop, as far as it has come. */
static void stop(uint32_t channel, bool failed)
{
    struct lane *lane = &lanes[channel];
    const uint32_t value = get(channel_register(channel, PL080_C_CONFIGURATION));

    if (lane->phase == RUNNING && !failed) {
        lane->phase = HALTING;
        configure(channel, value | PL080_C_HALT);
    } else if (failed || !(value & PL080_C_ACTIVE) || ++lane->stop_reads >= STOP_READS) {
        lane->phase = DISABLING;
        configure(channel, 0);
    }
}

/* Reads what the channel does, and stops a channel whose work item is cancelled. */
static enum state look(uint32_t channel, const struct mli_work *work)
{
    struct lane *lane = &lanes[channel];
    bool enabled, failed;
    uintptr_t before;

    if (lane->phase == IDLE)
        return ENDED;
    before = lock();
    enabled = get(PL080_ENABLED_CHANNELS) >> channel & 1;
    failed = get(PL080_RAW_ERROR_STATUS) >> channel & 1; /* before the handler clears it, */
    failed |= value_of(&lane->failed) != 0;              /* or after it */
    unlock(before);
    if (!enabled && lane->phase == DISABLING)
        return failed ? FAILED : STOPPED;
    if (!enabled)
        return failed ? FAILED : ENDED;
    if (lane->phase != DISABLING && (failed || lane->phase == HALTING || mli_work_cancelled(work)))
        stop(channel, failed);
    return BUSY;
}

/* Calls done. It is the last access to the lane, which may have its next work item after that. */
static void finish(uint32_t channel, struct mli_work *work, struct mli_work_end end)
{
    struct lane *lane = &lanes[channel];

    if (lane->phase != IDLE)
        become_idle(lane);
    reset(channel);
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

    if (mli_work_cancelled(work)) {
        finish(channel, work, end_cancelled(lane));
        return 0;
    }
    prepare(lane);
    if (start_other(channel)) {
        prepare(lane);
        return 0;
    }
    if (!lane->rest.for_processor) {
        finish(channel, work,
               (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = lane->written});
        return 0;
    }
    if (may_help) {
        make_visible(lane, work);
        mli_piece_move(work, &lane->rest.piece);
        lane->written += lane->rest.piece.bytes;
        lane->rest.for_processor = false;
    }
    mli_work_progress(work, lane->written);
    mli_channel_again(channel); /* the channel will raise no interrupt */
    return may_help;
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    struct lane *lane = &lanes[channel];
    struct mli_work *work = atomic_load_explicit(&lane->work, memory_order_acquire);
    struct pl080_list *list = &lane->lists[lane->running];
    enum state state;
    uint32_t items, reaped;

    if (!work)
        return 0;
    state = look(channel, work);
    if (state == ENDED && lane->phase != IDLE)
        become_idle(lane);
    items = state == ENDED ? list->count
                           : pl080_list_position(list, get(channel_register(channel, PL080_C_LLI)));
    reaped = pl080_list_reap(list, items, budget, &lane->written);
    mli_work_progress(work, lane->written);
    if (pl080_list_has_complete(list, items) || (state == BUSY && lane->phase != RUNNING))
        mli_channel_again(channel); /* the budget is used up, or the channel is about to stop */
    else if (state == BUSY)
        prepare(lane);
    else if (state == ENDED)
        reaped += go_on(channel, work, reaped < budget);
    else
        finish(channel, work,
               end_at(lane, state == FAILED ? MLI_STATUS_DMA_ERROR : MLI_STATUS_CANCELLED,
                      &list->pieces[list->reaped]));
    return reaped;
}

static void stats(uint32_t channel, mli_mov_channel_stats *stats)
{
    if (channel < PL080_CHANNELS_MAX)
        stats->queue_high_water = value_of(&lanes[channel].high_water);
}

void pl080_interrupt(void)
{
    const uintptr_t before = lock();
    const uint32_t errors = get(PL080_INT_ERROR_STATUS), ends = get(PL080_INT_TC_STATUS);

    for (uint32_t channel = 0; channel < PL080_CHANNELS_MAX; channel++) {
        if (errors >> channel & 1)
            set_value(&lanes[channel].failed, 1);
    }
    set(PL080_INT_TC_CLEAR, ends);
    set(PL080_INT_ERROR_CLEAR, errors);
    unlock(before);
    for (uint32_t channel = 0; channel < PL080_CHANNELS_MAX; channel++) {
        if ((errors | ends) >> channel & 1)
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
        set_value(&interrupt_option, board.interrupts);
        set_value(&items_option, PL080_ITEMS_MAX);
        set_value(&run_option, PL080_RUN_DEFAULT);
        set_value(&piece_option, PL080_PIECE_DEFAULT);
    } else if (is(key, length, "interrupt") && value <= board.interrupts) {
        set_value(&interrupt_option, (uint32_t)value);
    } else if (is(key, length, "items") && value >= PL080_PIECE_ITEMS && value <= PL080_ITEMS_MAX) {
        set_value(&items_option, (uint32_t)value);
    } else if (is(key, length, "run") && value <= UINT32_MAX) {
        set_value(&run_option, (uint32_t)value);
    } else if (is(key, length, "piece") && value <= UINT32_MAX) {
        set_value(&piece_option, (uint32_t)value);
    } else {
        return false;
    }
    return true;
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
    .close = close_channel,
    .poll = poll,
    .stats = stats,
    .option = option,
    .reason = reason,
};
