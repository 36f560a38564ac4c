/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the Arm PrimeCell DMA controller PL080. It works polled or with interrupts, needs
 * no operating system, and knows no addresses: the board's code describes the controller by
 * pl080_set_platform().
 *
 *   pl080_item.[ch]     the linked list items of a piece
 *   pl080_engine.c      channels, and the functions of the engine: ends, errors and cancels
 *   pl080_registers.h   the registers
 *
 *   pl080:interrupt=N   1: complete by interrupts; 0: by polling (default: 1 if the board has
 *                       connected them).
 *   pl080:items=N       Chain at most N items, PL080_PIECE_ITEMS to PL080_ITEMS_MAX (default: all).
 *                       A channel has two chains: the processor fills one while the other runs.
 *   pl080:run=BYTES     Let the processor move shorter rows (default: PL080_RUN_DEFAULT).
 *   pl080:piece=BYTES   Let the processor move boxes with fewer bytes for each piece (default:
 *                       PL080_PIECE_DEFAULT). With run=0,piece=0 the controller moves every byte.
 */
#ifndef MLI_PL080_ENGINE_H
#define MLI_PL080_ENGINE_H

#include "mli_engine.h"

enum {
    PL080_CHANNELS_MAX = 8,
    PL080_ITEMS_MAX = 64,
    PL080_PIECE_ITEMS = 4, /* most items of a piece */
    /* Assumed, not measured: a channel is arbitrated for each burst. */
    PL080_RUN_DEFAULT = 8,
    /* Assumed, not measured: the time in which a channel loads an item. */
    PL080_PIECE_DEFAULT = 64
};

/** A controller, and what its driver needs of the board. */
struct pl080_platform {
    uintptr_t base;  /**< address of the registers; 0: no controller, unless `read` is set */
    bool interrupts; /**< the board calls pl080_interrupt() for the controller's interrupts */

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`, by the offset from there.
     */
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);

    /**
     * Required if several processors or threads use the controller: keep pl080_interrupt() and
     * other threads out for a short time. lock returns what unlock needs; calls do not nest.
     */
    uintptr_t (*lock)(void);
    void (*unlock)(uintptr_t before);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

extern const struct mli_engine pl080_engine;

/**
 * Describes the controller. Copies *platform. Call it while the pool is empty. The masters of the
 * controller are little-endian.
 */
void pl080_set_platform(const struct pl080_platform *platform);

/**
 * Handles the interrupt of the controller, which all channels share: clears its causes, and has the
 * library poll their channels. Any context; completion callbacks run inside.
 */
void pl080_interrupt(void);

#endif /* MLI_PL080_ENGINE_H */
