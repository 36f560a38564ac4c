/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the DMA controller of the Intel (Marvell) PXA27x. It works polled or with
 * interrupts, needs no operating system, and knows no addresses: the board's code describes the
 * controller by pxa27x_set_platform().
 *
 *   pxa27x_item.[ch]     the descriptor of a piece
 *   pxa27x_engine.c      channels, and the functions of the engine: ends, errors and cancels
 *   pxa27x_registers.h   the registers
 *
 *   pxa27x:interrupt=N   1: complete by interrupts; 0: by polling (default: 1 if the board has
 *                        connected them).
 *   pxa27x:items=N       Chain at most N descriptors, 1 to PXA27X_ITEMS_MAX (default: all). A
 *                        channel has two chains: the processor fills one while the other runs.
 *   pxa27x:run=BYTES     Let the processor move shorter rows (default: PXA27X_RUN_DEFAULT).
 *   pxa27x:piece=BYTES   Let the processor move boxes with fewer bytes for each descriptor
 *                        (default: PXA27X_PIECE_DEFAULT). With run=0,piece=0 the controller moves
 *                        every byte.
 *
 * Channel n of the engine is the channel of the controller with the n-th bit of `channels`.
 */
#ifndef MLI_PXA27X_ENGINE_H
#define MLI_PXA27X_ENGINE_H

#include "mli_engine.h"

enum {
    PXA27X_CHANNELS_ALL = 32, /* of the controller */
    PXA27X_CHANNELS_MAX = 16, /* of the engine: the library uses no more */
    PXA27X_ITEMS_MAX = 32,
    /* Assumed, not measured: a burst has 32 bytes. */
    PXA27X_RUN_DEFAULT = 8,
    /* Assumed, not measured: the time in which a channel loads a descriptor. */
    PXA27X_PIECE_DEFAULT = 64
};

/** A controller, and what its driver needs of the board. */
struct pxa27x_platform {
    uintptr_t base;    /**< address of the registers; 0: no controller, unless `read` is set */
    uint32_t channels; /**< bit n: the engine may use channel n; 16 bits at most are used */
    bool interrupts;   /**< the board calls pxa27x_interrupt() for the controller's interrupts */

    /** Further bits of DCMD: 0 for memory. PXA27X_WIDTH_1 for QEMU 7.2. */
    uint32_t command;

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`, by the offset from there.
     */
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);

    /**
     * Required if several threads use the controller: keep pxa27x_interrupt() and other threads out
     * for a short time. lock returns what unlock needs; calls do not nest.
     */
    uintptr_t (*lock)(void);
    void (*unlock)(uintptr_t before);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

extern const struct mli_engine pxa27x_engine;

/** Describes the controller. Copies *platform. Call it while the pool is empty. */
void pxa27x_set_platform(const struct pxa27x_platform *platform);

/**
 * Handles the interrupt of the controller, which all channels share: clears its causes, and has the
 * library poll their channels. It leaves channels alone that the engine may not use. Any context;
 * completion callbacks run inside.
 */
void pxa27x_interrupt(void);

#endif /* MLI_PXA27X_ENGINE_H */
