/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the system DMA (sDMA, DMA4) of the TI OMAP2420. It works polled or with interrupts,
 * needs no operating system, and knows no addresses: the board's code describes the controller by
 * omap_set_platform().
 *
 *   omap_block.[ch]    the values of the registers for a piece: rows, or elements in two loops
 *   omap_engine.c      channels, and the functions of the engine: ends, errors and cancels
 *   omap_registers.h   the registers
 *
 *   omap:interrupt=N
 *       1: complete by interrupts; 0: by polling (default: 1 if the board has connected them).
 *   omap:items=N
 *       Link at most N logical channels, 1 to OMAP_ITEMS_MAX (default: all). A channel of the
 *       engine has 2 * N logical channels: the processor writes the registers of N of them while
 *       the controller executes the other N.
 *   omap:run=BYTES
 *       Let the processor move shorter rows (default: OMAP_RUN_DEFAULT), unless each row is an
 *       element.
 *   omap:piece=BYTES
 *       Let the processor move boxes with fewer bytes for each block (default:
 *       OMAP_PIECE_DEFAULT). With run=0,piece=0 the controller moves every byte.
 *
 * `channels` of struct omap_platform has a bit for each logical channel that the engine may use.
 * Channel n of the engine is the n-th group of 2 * N of these.
 */
#ifndef MLI_OMAP_ENGINE_H
#define MLI_OMAP_ENGINE_H

#include "mli_engine.h"

enum {
    OMAP_ITEMS_MAX = 4,
    OMAP_LANES_MAX = 16, /* channels of the engine */
    /* Assumed, not measured: a short row is not a burst. */
    OMAP_RUN_DEFAULT = 8,
    /* Assumed, not measured: the time in which the processor writes the registers of a block. */
    OMAP_PIECE_DEFAULT = 256
};

/** A controller, and what its driver needs of the board. */
struct omap_platform {
    uintptr_t base;    /**< address of the registers; 0: no controller, unless `read` is set */
    uint32_t channels; /**< bit n: the engine may use logical channel n */
    bool interrupts;   /**< the board calls omap_interrupt() for interrupt line L0 */

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`, by the offset from there.
     */
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);

    /**
     * Required if several threads or processors use the controller: keep omap_interrupt() and other
     * threads out for a short time. lock returns what unlock needs; calls do not nest.
     */
    uintptr_t (*lock)(void);
    void (*unlock)(uintptr_t before);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

extern const struct mli_engine omap_engine;

/** Describes the controller. Copies *platform. Call it while the pool is empty. */
void omap_set_platform(const struct omap_platform *platform);

/**
 * Handles interrupt line L0, which all channels share: clears its causes, and has the library poll
 * their channels. It leaves channels alone that the engine does not use. Any context; completion
 * callbacks run inside.
 */
void omap_interrupt(void);

/**
 * Returns the channel of the engine that uses a logical channel; OMAP_LANES_MAX if none does. For
 * boards that inject faults.
 */
uint32_t omap_channel(uint32_t number);

#endif /* MLI_OMAP_ENGINE_H */
