/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels of a DMA controller that executes chains of descriptors: the code that the engines of
 * all these controllers share.
 *
 * Glossary
 *   item    a descriptor of the controller, in memory, with the address of the next item; or the
 *           registers of a channel that starts another one at its end
 *   chain   items that a channel executes without the processor, up to an interrupt at their end.
 *           A chain that runs cannot be extended.
 *   piece   a part of a plan (mli_engine.h). It takes one item or a few, all in one chain.
 *
 * A channel has two chains, A and B. chain_submit() fills and starts A. While the channel executes
 * A, chain_poll() fills B. The poll that finds A complete starts B at once, then fills A again. The
 * processor moves its pieces after the last chain.
 *
 * To write an engine, start here: define the functions of struct chain_controller, a struct
 * chain_channel for each channel, and a struct mli_engine whose functions `open`, `submit` and
 * `poll` call those below. The engine keeps the items, in the form of its controller.
 * boards/drivers/bcm2835.c is an example.
 */
#pragma once

#include "mli_engine.h"

enum {
    CHAIN_COUNT = 2,          /* chains of a channel */
    CHAIN_PIECES_MAX = 32,    /* number of pieces of a chain */
    CHAIN_ITEMS_MAX = 255,    /* items of a chain */
    CHAIN_STOP_POLLS = 10000, /* number of polls before CHAIN_GIVE_UP, if a channel does not stop */
    /* If a channel does not stop after this number of polls, only an interrupt or mli_mov_poll()
       polls it. */
    CHAIN_WATCH_POLLS = 2 * CHAIN_STOP_POLLS
};

/** The state of a channel that was started. */
enum chain_state {
    CHAIN_BUSY,
    CHAIN_STOPPING, /**< it should stop after an error or a cancel, but may still write memory */
    CHAIN_ENDED,    /**< the bytes of all items are written to memory */
    CHAIN_FAILED,   /**< the channel has stopped after an error */
    CHAIN_STOPPED   /**< the channel has stopped as requested */
};

/** Whether a channel must stop. */
enum chain_stop {
    CHAIN_GO_ON,     /**< no */
    CHAIN_CANCELLED, /**< the work item is cancelled: halt the channel, if it is not halted yet */
    /**
     * The channel has not stopped after CHAIN_STOP_POLLS polls: disable or reset it, if that stops
     * it for certain. Otherwise keep returning CHAIN_STOPPING: the work item ends if the channel
     * stops later, preferably with an interrupt.
     */
    CHAIN_GIVE_UP
};

/**
 * The functions of a controller. `channel` is the engine's number of a channel, `chain` is 0
 * or 1, and items are counted from 0. The functions of one channel are never called concurrently.
 */
struct chain_controller {
    /** Maximum number of items of one piece. */
    uint32_t piece_items;

    /** Sets the limits of a piece, like `caps` of struct mli_engine. */
    void (*caps)(uint32_t channel, struct mli_channel_caps *caps);

    /**
     * Writes the items of a piece, from item `first` on. Returns their number; 0 if the controller
     * cannot move the piece, for example because the bus does not have an address: the processor
     * then moves it.
     */
    uint32_t (*encode)(uint32_t channel, uint32_t chain, uint32_t first,
                       const struct mli_descriptor *piece);

    /**
     * Links items 0 to `count` - 1, lets the last one raise the interrupt (not needed if a channel
     * raises it when it stops), and writes them from the cache to memory. `count` is not 0. Keep
     * `count` if `start` or `look` needs it.
     */
    void (*link)(uint32_t channel, uint32_t chain, uint32_t count);

    /**
     * Starts a chain on an idle channel: forgets earlier ends and errors, and calls chain_barrier()
     * before the write that starts the channel.
     */
    void (*start)(uint32_t channel, uint32_t chain);

    /**
     * Stops the channel if requested, then returns the state of the channel. Rules for a driver:
     * - The registers must show CHAIN_ENDED when the interrupt of a chain's end is raised. If they
     *   showed it later, no other interrupt would follow, and the end would be missed.
     * - If the channel executed its last item before it stopped, return CHAIN_ENDED. CHAIN_STOPPED
     *   means that the last item was not executed.
     * - If an idle channel has stopped, this call must return so. A later call is not certain.
     * Not called for a channel that has ended, until its next start.
     */
    enum chain_state (*look)(uint32_t channel, enum chain_stop stop);

    /**
     * Returns the number of the item that the channel executes, or in which it has stopped: 0 to
     * `count` - 1. The data of all items before this one must have reached memory. Returns 0 if the
     * registers name no item of the chain. Not called for a channel that has ended.
     */
    uint32_t (*position)(uint32_t channel, uint32_t chain, uint32_t count);

    /**
     * Returns the number of the piece's rows that are in memory, for a channel that has stopped in
     * item `item`, the first item of the piece. Null if the registers do not tell this number.
     */
    uint64_t (*rows)(uint32_t channel, uint32_t chain, uint32_t item,
                     const struct mli_descriptor *piece);

    /**
     * Clears the interrupt of a channel whose work item has ended. If the work item did not
     * succeed, also resets the channel.
     */
    void (*clear)(uint32_t channel, bool success);
};

/** A chain of a channel: the pieces that its items move. */
struct chain {
    struct mli_descriptor pieces[CHAIN_PIECES_MAX];
    uint8_t ends[CHAIN_PIECES_MAX]; /* number of items up to the end of each piece */
    uint32_t items;
    uint32_t count, reaped; /* number of pieces; number of them that a poll has found complete */
};

/** A channel of the engine. Its members are private to chain.c. */
struct chain_channel {
    const struct chain_controller *controller;
    uint64_t (*clock_ns)(void);
    uint32_t number, items_max;
    struct chain chains[CHAIN_COUNT];
    struct mli_legaliser legaliser; /* yields the pieces that are in no chain yet */
    struct mli_descriptor piece;    /* the last piece that the legaliser yielded */
    bool for_processor;             /* the processor must move `piece` after the last chain */
    bool idle;                      /* the channel executes no chain */
    bool visible;                   /* the processor's cache holds no bytes of the destination */
    uint32_t running;               /* the chain that the channel executes, or has executed */
    uint32_t stop_polls;            /* polls since the channel began to stop */
    size_t written;
    uint64_t began, busy_ns;
    _Atomic(struct mli_work *) work; /* null: no work item, and poll must not touch the channel */
    _Atomic uint32_t high_water;
};

/** The arguments of chain_open(). */
struct chain_setup {
    const struct chain_controller *controller;
    uint32_t number;    /**< the engine's number of the channel */
    uint32_t items_max; /**< maximum number of items of a chain: piece_items to CHAIN_ITEMS_MAX */
    uint64_t (*clock_ns)(void); /**< null: there is no clock */
};

/** Opens a channel, which is idle. */
void chain_open(struct chain_channel *channel, const struct chain_setup *setup);

/** The functions `submit`, `poll` and `stats` of struct mli_engine, for one channel. */
void chain_submit(struct chain_channel *channel, struct mli_work *work);
uint32_t chain_poll(struct chain_channel *channel, uint32_t budget);
void chain_stats(struct chain_channel *channel, mli_mov_channel_stats *stats);

/** Completes all earlier accesses to memory and registers before all later ones. */
void chain_barrier(void);

/**
 * Sets *bus to the address of a run of `bytes` bytes on a bus of 32 bits. Returns false if the bus
 * does not have all of the run. bytes > 0.
 */
bool chain_bus32(const void *address, uint64_t bytes, uint32_t *bus);
