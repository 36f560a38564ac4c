/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine for the DMA controller of the Broadcom BCM2835, and of BCM2836 and BCM2837, which have
 * the same controller. It works polled or with interrupts, needs no operating system, and knows no
 * addresses: the board's code describes the controller by bcm2835_set_platform().
 *
 *   bcm2835_block.[ch]   the control block of a piece, and the row in which a channel stopped
 *   bcm2835_device.[ch]  starts, pauses and resets channels
 *   bcm2835_engine.c     the functions of the engine: ends, errors and cancels
 *   bcm2835_registers.h  the registers
 *
 *   bcm2835:interrupt=N  1: complete by interrupts; 0: by polling (default: 1 if the board has
 *                        connected them).
 *   bcm2835:blocks=N     Chain at most N control blocks, 1 to BCM2835_BLOCKS_MAX (default: all). A
 *                        channel has two chains: the processor fills one while the other runs.
 *   bcm2835:run=BYTES    Let the processor move shorter rows (default: BCM2835_RUN_DEFAULT).
 *   bcm2835:piece=BYTES  Let the processor move boxes with fewer bytes for each control block
 *                        (default: BCM2835_PIECE_DEFAULT). run=0,piece=0: the controller moves
 *                        every byte.
 *   bcm2835:lite=1       Use full channels like lite channels, which move no rectangles and at most
 *                        65535 bytes by a control block (default: 0).
 *
 * Channel n of the engine is the channel of the controller with the n-th bit of `channels`.
 */
#ifndef MLI_BCM2835_ENGINE_H
#define MLI_BCM2835_ENGINE_H

#include "mli_engine.h"

enum {
    BCM2835_CHANNELS_MAX = 15, /* channel 15 has its registers elsewhere, and belongs to the GPU */
    BCM2835_BLOCKS_MAX = 32,
    /* Assumed, not measured: a row of a rectangle takes a read and a write of its own. */
    BCM2835_RUN_DEFAULT = 8,
    /* Assumed, not measured: the time in which a channel loads a control block. */
    BCM2835_PIECE_DEFAULT = 64
};

/** A controller, and what its driver needs of the board. */
struct bcm2835_platform {
    uintptr_t base;    /**< address of the registers of channel 0; 0: no controller */
    uint32_t channels; /**< bit n: the engine may use channel n; the firmware has the others */

    /**
     * The controller moves multiples of this number of bytes, a power of two. 0 or 1: any bytes, as
     * the manual says. 4 for QEMU 7.2, which moves words.
     */
    uint32_t unit;

    /**
     * Keeps the interrupt of a channel of the controller away from the processor, or lets it
     * through. Null: the board has not connected the interrupts. Any context.
     */
    void (*mask)(uint32_t channel, bool masked);

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`, by the offset from there.
     */
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

extern const struct mli_engine bcm2835_engine;

/**
 * Describes the controller. Copies *platform. Call it while the pool is empty. Control blocks,
 * sources and destinations need bus addresses: set bus_address of struct mli_platform, too.
 */
void bcm2835_set_platform(const struct bcm2835_platform *platform);

/**
 * Handles the interrupt of a channel of the controller: masks it and has the library poll the
 * channel, which clears it. Any context; completion callbacks run inside.
 */
void bcm2835_interrupt(uint32_t channel);

#endif /* MLI_BCM2835_ENGINE_H */
