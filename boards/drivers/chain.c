/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/drivers/chain.h"

#include <stdatomic.h>

void chain_barrier(void)
{
#if defined(__ARM_ARCH) && __ARM_ARCH >= 7
    __asm__ volatile("dsb sy" ::: "memory");
#elif defined(__arm__) && !defined(__thumb__) && !defined(__unix__)
    __asm__ volatile("mcr p15, 0, %0, c7, c10, 4" ::"r"(0)
                     : "memory"); /* drains the write buffer */
#else
    __sync_synchronize();
#endif
}

bool chain_bus32(const void *address, uint64_t bytes, uint32_t *bus)
{
    const uint64_t first = mli_bus_address(address);

    *bus = (uint32_t)first;
    return first <= UINT32_MAX && bytes - 1 <= UINT32_MAX - first;
}

static uint64_t now(const struct chain_channel *channel)
{
    return channel->clock_ns ? channel->clock_ns() : 0;
}

/* Returns whether polls have found all pieces of a chain complete, so that it may be filled again.
 */
static bool is_reaped(const struct chain *chain)
{
    return chain->reaped == chain->count;
}

/* The first `items` items of the chain are done. Returns whether the next piece is complete then.
 */
static bool has_complete(const struct chain *chain, uint32_t items)
{
    return !is_reaped(chain) && chain->ends[chain->reaped] <= items;
}

/* Returns the number of the first item of the first piece that no poll has found complete. */
static uint32_t first_item(const struct chain *chain)
{
    return chain->reaped > 0 ? chain->ends[chain->reaped - 1] : 0;
}

/* The first `items` items of the chain are done. Marks the pieces that consist of them as complete,
 * at most `budget`. */
static uint32_t reap(struct chain_channel *channel, struct chain *chain, uint32_t items,
                     uint32_t budget)
{
    uint32_t reaped = 0;

    for (; reaped < budget && has_complete(chain, items); reaped++)
        channel->written += chain->pieces[chain->reaped++].bytes;
    return reaped;
}

/* Returns the number of the chain that is filled while the channel executes the other one. */
static uint32_t other(const struct chain_channel *channel)
{
    return 1 - channel->running;
}

/* Fills an empty chain with the next pieces; stops before a piece for the processor. */
static void fill(struct chain_channel *channel, uint32_t number)
{
    const struct chain_controller *controller = channel->controller;
    struct chain *chain = &channel->chains[number];

    chain->items = chain->count = chain->reaped = 0;
    while (chain->items + controller->piece_items <= channel->items_max &&
           chain->count < CHAIN_PIECES_MAX && !channel->for_processor &&
           mli_legalise_next(&channel->legaliser, &channel->piece)) {
        const uint32_t items =
            channel->piece.flags & MLI_PIECE_CPU
                ? 0
                : controller->encode(channel->number, number, chain->items, &channel->piece);

        channel->for_processor = items == 0;
        if (items == 0)
            break;
        chain->items += items;
        chain->pieces[chain->count] = channel->piece;
        chain->ends[chain->count++] = (uint8_t)chain->items;
    }
    if (chain->items > 0)
        controller->link(channel->number, number, chain->items);
}

/* Fills the chain that the channel does not execute, if it is empty. */
static void prepare(struct chain_channel *channel)
{
    const struct chain *chain = &channel->chains[other(channel)];

    if (!is_reaped(chain))
        return;
    fill(channel, other(channel));
    if (chain->items > atomic_load_explicit(&channel->high_water, memory_order_relaxed))
        atomic_store_explicit(&channel->high_water, chain->items, memory_order_relaxed);
}

/* A channel has two chains of items: it executes one while the other is filled. Starts the other
 * one, if it has items. */
static bool start_other(struct chain_channel *channel)
{
    if (is_reaped(&channel->chains[other(channel)]))
        return false;
    channel->running = other(channel);
    channel->idle = false;
    channel->began = now(channel);
    channel->controller->start(channel->number, channel->running);
    return true;
}

static void become_idle(struct chain_channel *channel)
{
    if (channel->idle)
        return;
    channel->idle = true;
    channel->busy_ns += now(channel) - channel->began;
    chain_barrier(); /* read the data that the channel has written only after this barrier */
}

void chain_open(struct chain_channel *channel, const struct chain_setup *setup)
{
    channel->controller = setup->controller;
    channel->clock_ns = setup->clock_ns;
    channel->number = setup->number;
    channel->items_max = setup->items_max;
    channel->idle = true;
    atomic_store_explicit(&channel->high_water, 0, memory_order_relaxed);
}

void chain_submit(struct chain_channel *channel, struct mli_work *work)
{
    struct mli_channel_caps limits = {0};

    channel->controller->caps(channel->number, &limits);
    mli_legalise_init(&channel->legaliser, work->plan, &limits);
    channel->written = 0;
    channel->busy_ns = 0;
    channel->stop_polls = 0;
    channel->visible = false;
    channel->for_processor = false;
    for (size_t i = 0; i < CHAIN_COUNT; i++)
        channel->chains[i].count = channel->chains[i].reaped = 0;
    mli_work_clean(work);
    prepare(channel);
    atomic_store_explicit(&channel->work, work, memory_order_release);
    if (!start_other(channel))
        mli_channel_again(channel->number); /* the channel will raise no interrupt */
}

/* Makes the bytes that the channel has written visible to the processor. */
static void make_visible(struct chain_channel *channel, const struct mli_work *work)
{
    if (!channel->visible)
        mli_work_invalidate(work);
    channel->visible = true;
}

/* Describes how a work item ended that stopped in `piece`, after `rows` rows of this piece. */
static struct mli_work_end end_at(const struct chain_channel *channel, mli_status status,
                                  const struct mli_descriptor *piece, uint64_t rows)
{
    return (struct mli_work_end){
        .status = status,
        .descriptor = piece->index,
        .row = mli_piece_row(channel->legaliser.plan, piece, rows),
        .bytes = channel->written + rows * piece->box.run,
    };
}

/* Describes how a work item ended whose channel stopped in item number `item` of a chain. */
static struct mli_work_end end_in_chain(const struct chain_channel *channel, mli_status status,
                                        uint32_t item)
{
    const struct chain *chain = &channel->chains[channel->running];
    const struct mli_descriptor *piece = &chain->pieces[chain->reaped];
    uint64_t rows = 0;

    if (channel->controller->rows && item == first_item(chain))
        rows = channel->controller->rows(channel->number, channel->running, item, piece);
    return end_at(channel, status, piece, rows);
}

/*
 * Describes how a cancelled work item ended, when its channel is idle: it stopped at the first
 * piece that was not started, or it succeeded if all pieces are complete.
 */
static struct mli_work_end end_cancelled(struct chain_channel *channel)
{
    const struct chain *next = &channel->chains[other(channel)];

    if (!is_reaped(next))
        return end_at(channel, MLI_STATUS_CANCELLED, &next->pieces[0], 0);
    if (channel->for_processor || mli_legalise_next(&channel->legaliser, &channel->piece))
        return end_at(channel, MLI_STATUS_CANCELLED, &channel->piece, 0);
    return (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = channel->written};
}

/* Calls done. Do not access the channel after this call: it may already have its next work item. */
static void finish(struct chain_channel *channel, struct mli_work *work, struct mli_work_end end)
{
    become_idle(channel);
    channel->controller->clear(channel->number, end.status == MLI_STATUS_OK);
    end.busy_ns = channel->busy_ns;
    make_visible(channel, work);
    atomic_store_explicit(&channel->work, NULL, memory_order_relaxed);
    work->done(work, &end);
}

/*
 * The channel is idle: starts the next chain, has the processor move a piece, or ends the work.
 * Returns the number of pieces that the processor moved.
 */
static uint32_t go_on(struct chain_channel *channel, struct mli_work *work, bool may_help)
{
    if (mli_work_cancelled(work)) {
        finish(channel, work, end_cancelled(channel));
        return 0;
    }
    prepare(channel);
    if (start_other(channel)) {
        prepare(channel);
        return 0;
    }
    if (!channel->for_processor) {
        finish(channel, work,
               (struct mli_work_end){.status = MLI_STATUS_OK, .bytes = channel->written});
        return 0;
    }
    if (may_help) {
        make_visible(channel, work);
        mli_piece_move(work, &channel->piece);
        channel->written += channel->piece.bytes;
        channel->for_processor = false;
    }
    mli_work_progress(work, channel->written);
    mli_channel_again(channel->number); /* the channel will raise no interrupt */
    return may_help;
}

/* Finds out what the channel does. */
static enum chain_state look(struct chain_channel *channel, const struct mli_work *work)
{
    enum chain_stop stop = mli_work_cancelled(work) ? CHAIN_CANCELLED : CHAIN_GO_ON;
    enum chain_state state;

    if (channel->idle)
        return CHAIN_ENDED;
    if (channel->stop_polls >= CHAIN_STOP_POLLS)
        stop = CHAIN_GIVE_UP;
    state = channel->controller->look(channel->number, stop);
    if (state == CHAIN_STOPPING && channel->stop_polls < CHAIN_WATCH_POLLS)
        channel->stop_polls++;
    if (state == CHAIN_ENDED)
        become_idle(channel);
    return state;
}

/*
 * Returns whether to poll the channel until it has stopped. False after CHAIN_WATCH_POLLS polls: if
 * the channel never stops, the library would never leave the handler or the cancel in which it
 * polls.
 */
static bool needs_watch(const struct chain_channel *channel, enum chain_state state)
{
    return state == CHAIN_STOPPING && channel->stop_polls < CHAIN_WATCH_POLLS;
}

uint32_t chain_poll(struct chain_channel *channel, uint32_t budget)
{
    struct mli_work *work = atomic_load_explicit(&channel->work, memory_order_acquire);
    struct chain *chain = &channel->chains[channel->running];
    enum chain_state state;
    uint32_t items, reaped;

    if (!work)
        return 0;
    state = look(channel, work);
    items = state == CHAIN_ENDED
                ? chain->items
                : channel->controller->position(channel->number, channel->running, chain->items);
    reaped = reap(channel, chain, items, budget);
    mli_work_progress(work, channel->written);
    if (has_complete(chain, items) || needs_watch(channel, state))
        mli_channel_again(channel->number); /* no budget is left, or no interrupt follows */
    else if (state == CHAIN_STOPPING)
        return reaped;
    else if (state == CHAIN_BUSY)
        prepare(channel);
    else if (state == CHAIN_ENDED)
        reaped += go_on(channel, work, reaped < budget);
    else
        finish(channel, work,
               end_in_chain(channel,
                            state == CHAIN_FAILED ? MLI_STATUS_DMA_ERROR : MLI_STATUS_CANCELLED,
                            items));
    return reaped;
}

void chain_stats(struct chain_channel *channel, mli_mov_channel_stats *stats)
{
    stats->queue_high_water = atomic_load_explicit(&channel->high_water, memory_order_relaxed);
}
