/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of the SiFive platform DMA engine (PDMA) of FU540-C000, FU740-C000 and PolarFire SoC.
 * Sources: PolarFire SoC MSS Technical Reference, "DMA Engine", which documents the same
 * controller; its numbers agree with the FU540-C000 manual. docs/boards.md says what QEMU models
 * differently.
 *
 * A channel copies one contiguous block per start: no descriptors in memory, no strides, no fills.
 * Software writes the Next registers and sets RUN; the channel copies them to its Exec registers
 * and counts these.
 */
#ifndef PDMA_REGISTERS_H
#define PDMA_REGISTERS_H

enum {
    PDMA_CHANNELS = 4,
    PDMA_CHANNEL_BYTES = 0x1000, /* distance of the registers of two channels */

    PDMA_CONTROL = 0x000,          /* 32 bits */
    PDMA_NEXT_CONFIG = 0x004,      /* 32 bits */
    PDMA_NEXT_BYTES = 0x008,       /* 64 bits, as all below */
    PDMA_NEXT_DESTINATION = 0x010, /* physical address */
    PDMA_NEXT_SOURCE = 0x018,
    PDMA_EXEC_CONFIG = 0x104, /* 32 bits, read only */
    PDMA_EXEC_BYTES = 0x108,  /* bytes that are left */
};

/* Control */
#define PDMA_CLAIM    (1u << 0) /* setting it clears the Next registers; stays set while RUN is */
#define PDMA_RUN      (1u << 1) /* set: start; the channel clears it at the end */
#define PDMA_DONE_IE  (1u << 14)
#define PDMA_ERROR_IE (1u << 15)
#define PDMA_DONE     (1u << 30) /* DONE and ERROR stay until software writes 0 */
#define PDMA_ERROR    (1u << 31)

/* NextConfig: logarithms of the bytes of one read and of one write on the bus, up to 64 bytes */
#define PDMA_SIZE_MAX        6
#define PDMA_CONFIG_OF(size) ((uint32_t)(size) << 28 | (uint32_t)(size) << 24)

#endif /* PDMA_REGISTERS_H */
