/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine for the DMA controller of the Broadcom BCM2835, and of BCM2836 and BCM2837, which have
 * the same controller. It works polled or with interrupts, needs no operating system, and knows no
 * addresses: the board's code describes the controller by bcm2835_set_platform().
 *
 *   bcm2835:interrupt=N  1: complete by interrupts; 0: by polling (default: 1 if the board has
 *                        connected them).
 *   bcm2835:blocks=N     Chain at most N control blocks, 1 to BCM2835_BLOCKS_MAX (default: all). A
 *                        channel has two chains: the processor fills one while the other runs.
 *   bcm2835:run=BYTES    Let the processor move rows shorter than BYTES (default:
 *                        BCM2835_RUN_DEFAULT).
 *   bcm2835:piece=BYTES  Let the processor move boxes with fewer than BYTES bytes for each control
 *                        block (default: BCM2835_PIECE_DEFAULT). run=0,piece=0: the controller
 *                        moves every byte.
 *   bcm2835:lite=1       Use full channels like lite channels, which move no rectangles and at most
 *                        65535 bytes by a control block (default: 0).
 *
 * Channel n of the engine is the channel of the controller with the n-th bit of `channels`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_engine.h"

/*
 * Registers and control blocks of the DMA controller of the Broadcom BCM2835. Sources: BCM2835 ARM
 * Peripherals, chapter 4 "DMA Controller"; BCM2711 ARM Peripherals, chapter 4, which describes the
 * same channels, and says for DMA4 channels that YLENGTH is the number of rows minus 1.
 */

/* Offsets from the base address of a channel. Channel n is at n * BCM2835_CHANNEL_BYTES. */
enum bcm2835_register {
    BCM2835_CS = 0x00,
    BCM2835_CONBLK_AD = 0x04,
    BCM2835_TI = 0x08, /* first register of the current control block, which ends with NEXTCONBK and
                          changes while the channel runs */
    BCM2835_SOURCE_AD = 0x0c,
    BCM2835_DEST_AD = 0x10,
    BCM2835_TXFR_LEN = 0x14,
    BCM2835_STRIDE = 0x18,
    BCM2835_NEXTCONBK = 0x1c,
    BCM2835_DEBUG = 0x20,
    BCM2835_CHANNEL_BYTES = 0x100,
    BCM2835_ENABLE = 0xff0, /* enable bits of all channels: bit n enables channel n */
};

/* CS. A write of 1 clears END and INT. */
#define BCM2835_CS_ACTIVE  (1u << 0)
#define BCM2835_CS_END     (1u << 1)
#define BCM2835_CS_INT     (1u << 2)
#define BCM2835_CS_PAUSED  (1u << 4)
#define BCM2835_CS_WAITING (1u << 6) /* the channel waits for the responses to its last writes */
#define BCM2835_CS_ERROR   (1u << 8)
#define BCM2835_CS_COUNT_WRITES                                                                    \
    (1u << 28) /* set END and INT when the last byte is written to memory */
#define BCM2835_CS_RESET (1u << 31)

/* TI */
#define BCM2835_TI_INTEN           (1u << 0)
#define BCM2835_TI_TDMODE          (1u << 1)
#define BCM2835_TI_DEST_INC        (1u << 4)
#define BCM2835_TI_SRC_INC         (1u << 8)
#define BCM2835_DEBUG_WRITES_SHIFT 4 /* writes without a response, 4 bits */

/* Limits of the fields. A lite channel has neither TDMODE, STRIDE nor YLENGTH. */
#define BCM2835_LINEAR_MAX 0x3fffffffu /* TXFR_LEN of a full channel: 30 bits */
#define BCM2835_X_MAX      0xffffu     /* XLENGTH, and TXFR_LEN of a lite channel */
#define BCM2835_ROWS_MAX   0x4000u     /* YLENGTH + 1 */
#define BCM2835_STRIDE_MAX 0x7fff      /* a signed field, from the end of a row to the next row */

/*
 * A control block, at a multiple of its size. Its words are the registers from TI on. They have the
 * byte order of the processor: all chips with this controller have little-endian processors.
 */
struct bcm2835_block {
    uint32_t ti, source_ad, dest_ad, txfr_len, stride, nextconbk, zero[2];
};
_Static_assert(sizeof(struct bcm2835_block) == 32, "a control block has 8 words");

/* Control blocks for the pieces of a plan. */

/** The properties of a channel that its control blocks depend on. */
enum bcm2835_kind { BCM2835_FULL, BCM2835_LITE };

/** Sets the limits of a control block: loops and bytes. */
void bcm2835_block_limits(enum bcm2835_kind kind, struct mli_channel_caps *caps);

/**
 * Encodes a piece; the block ends a chain. Returns false if the piece has an address beyond the 32
 * bits of the bus: the processor must move it.
 */
bool bcm2835_block_encode(struct bcm2835_block *block, enum bcm2835_kind kind,
                          const struct mli_descriptor *piece);

/** Links the block to the block at bus address `next`, so that the chain no longer ends here. */
void bcm2835_block_link(struct bcm2835_block *block, uint32_t next);

/**
 * Returns the number of rows of a piece that are written, from the registers TXFR_LEN and DEST_AD
 * of a channel that has stopped in its block.
 */
uint64_t bcm2835_block_rows(const struct bcm2835_block *block, const struct mli_descriptor *piece,
                            uint32_t txfr_len, uint32_t dest_ad);

/* The registers of the controller. Its channels have numbers from 0 to 14. */

/** A controller, and what its driver needs of the board. */
struct bcm2835_platform {
    uintptr_t base;    /**< address of the registers of channel 0; 0: no controller */
    uint32_t channels; /**< bit n: the engine may use channel n; the firmware uses the others */

    /**
     * The controller moves multiples of this number of bytes, a power of two. 0 or 1: any bytes, as
     * the manual says. 4 for QEMU 7.2, which moves words.
     */
    uint32_t unit;

    /**
     * Masks or unmasks the interrupt of a channel of the controller. Null: the board has not
     * connected the interrupts. Any context.
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

enum {
    BCM2835_CHANNELS_MAX = 15, /* channel 15 has its registers elsewhere, and belongs to the GPU */
    BCM2835_BLOCKS_MAX = 32,
    /* Bytes of a run. Assumed, not measured: each row of a rectangle takes one read and one write.
     */
    BCM2835_RUN_DEFAULT = 8,
    /* Assumed, not measured: the processor copies this number of bytes in the time in which a
       channel loads a control block. */
    BCM2835_PIECE_DEFAULT = 64
};

extern const struct mli_engine bcm2835_engine;

/**
 * Describes the controller. Copies *platform. Call it while the pool is empty. Control blocks,
 * sources and destinations need bus addresses: therefore also set bus_address of struct
 * mli_platform.
 */
void bcm2835_set_platform(const struct bcm2835_platform *platform);

/**
 * Handles the interrupt of a channel of the controller: masks it and has the library poll the
 * channel, which clears it. Any context; completion callbacks run inside.
 */
void bcm2835_interrupt(uint32_t channel);
