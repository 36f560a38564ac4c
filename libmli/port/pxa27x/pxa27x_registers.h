/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers and descriptors of the DMA controller of the Intel (Marvell) PXA27x. Sources: excerpts
 * of the PXA255 Developer's Manual, and the names and numbers of registers and bits in public
 * headers. Chapter 5 of the PXA27x Developer's Manual was not available: compare both before use.
 */
#ifndef MLI_PXA27X_REGISTERS_H
#define MLI_PXA27X_REGISTERS_H

#include <stdint.h>

/* Offsets of the registers. In DALGN and DINT, bit n is channel n. */
enum pxa27x_register {
    PXA27X_DCSR = 0x000,  /* of channel 0; that of channel n is 4 * n further */
    PXA27X_DALGN = 0x0a0, /* addresses of the channel are multiples of 1, not of 8 */
    PXA27X_DINT = 0x0f0,
    PXA27X_CHANNELS = 0x200
};

/* Offsets from PXA27X_CHANNELS + n * PXA27X_CHANNEL_BYTES. */
enum pxa27x_channel_register {
    PXA27X_DDADR = 0x0,
    PXA27X_DSADR = 0x4,
    PXA27X_DTADR = 0x8,
    PXA27X_DCMD = 0xc,
    PXA27X_CHANNEL_BYTES = 0x10
};

/* DCSR */
#define PXA27X_BUS_ERROR      (1u << 0) /* a write of 1 clears this bit and the next two */
#define PXA27X_START          (1u << 1)
#define PXA27X_END            (1u << 2)
#define PXA27X_STOPPED        (1u << 3)  /* read only */
#define PXA27X_STOP_INTERRUPT (1u << 29) /* interrupt while PXA27X_STOPPED is set */
#define PXA27X_RUN            (1u << 31)
#define PXA27X_CAUSES         (PXA27X_BUS_ERROR | PXA27X_START | PXA27X_END)

/* DDADR: the address of the next descriptor, and a bit. */
#define PXA27X_STOP 1u /* there is no next descriptor */

/* DCMD. Without flow control: memory to memory. */
#define PXA27X_LENGTH_MAX    0x1fffu
#define PXA27X_WIDTH_1       (1u << 14) /* of a peripheral; 0 for memory */
#define PXA27X_BURST_32      (3u << 16)
#define PXA27X_DST_INCREMENT (1u << 30)
#define PXA27X_SRC_INCREMENT (1u << 31)

/* A descriptor, at a multiple of 16 bytes. Its words are the registers of a channel. */
struct pxa27x_item {
    uint32_t next, src, dst, command;
};
_Static_assert(sizeof(struct pxa27x_item) == 16, "a descriptor has 4 words");

#endif /* MLI_PXA27X_REGISTERS_H */
