/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of the system DMA (sDMA, DMA4) of the TI OMAP2420. Sources: TI's public manual
 * SPRUI30H, chapter DMA_SYSTEM, which describes a later version of this controller (addressing
 * modes, alignment, interrupts, RD_ACTIVE and WR_ACTIVE, links and disabling), and the names and
 * numbers of registers and bits in public headers. docs/boards.md says what is assumed.
 */
#ifndef MLI_OMAP_REGISTERS_H
#define MLI_OMAP_REGISTERS_H

enum { OMAP_CHANNELS_ALL = 32 };

/* Offsets of the registers. In a register of an interrupt line, bit n is channel n. */
enum omap_register {
    OMAP_IRQSTATUS_L0 = 0x08, /* a write of 1 clears the bit */
    OMAP_IRQENABLE_L0 = 0x18,
    OMAP_CHANNELS = 0x80
};

/* Offsets from OMAP_CHANNELS + n * OMAP_CHANNEL_BYTES. */
enum omap_channel_register {
    OMAP_CCR = 0x00,
    OMAP_CLNK_CTRL = 0x04,
    OMAP_CICR = 0x08, /* a bit of CSR is set only if it is set here */
    OMAP_CSR = 0x0c,  /* a write of 1 clears the bit */
    OMAP_CSDP = 0x10,
    OMAP_CEN = 0x14, /* elements of a frame */
    OMAP_CFN = 0x18, /* frames of a block */
    OMAP_CSSA = 0x1c,
    OMAP_CDSA = 0x20,
    OMAP_CSEI = 0x24,
    OMAP_CSFI = 0x28,
    OMAP_CDEI = 0x2c,
    OMAP_CDFI = 0x30,
    OMAP_CSAC = 0x34,
    OMAP_CDAC = 0x38, /* address of the next write; software sets it to 0 before a start */
    OMAP_COLOR = 0x44,
    OMAP_CHANNEL_BYTES = 0x60
};

/* CCR. Without a number of a request: memory to memory. */
#define OMAP_ENABLE         (1u << 7) /* the channel clears it at its end */
#define OMAP_RD_ACTIVE      (1u << 9)
#define OMAP_WR_ACTIVE      (1u << 10)
#define OMAP_SRC_MODE_SHIFT 12
#define OMAP_DST_MODE_SHIFT 14
#define OMAP_MODE_MASK      3u
#define OMAP_MODE_INCREMENT 1u
#define OMAP_MODE_DOUBLE    3u         /* element and frame index */
#define OMAP_CONSTANT_FILL  (1u << 16) /* write COLOR, and read nothing */

/* CLNK_CTRL: bits 0 to 4 have the channel that starts at the end of this one. */
#define OMAP_LINK (1u << 15)

/* CSR, CICR */
#define OMAP_BLOCK            (1u << 5) /* the last element is written */
#define OMAP_TRANSFER_ERROR   (1u << 8)
#define OMAP_SECURE_ERROR     (1u << 9)
#define OMAP_SUPERVISOR_ERROR (1u << 10)
#define OMAP_MISALIGNED_ERROR (1u << 11)
#define OMAP_ERRORS                                                                                \
    (OMAP_TRANSFER_ERROR | OMAP_SECURE_ERROR | OMAP_SUPERVISOR_ERROR | OMAP_MISALIGNED_ERROR)
#define OMAP_CAUSES_ALL 0x1ffeu

/* CSDP: bits 0 and 1 have the logarithm of the bytes of an element. */
#define OMAP_SRC_PACKED   (1u << 6)
#define OMAP_SRC_BURST_64 (3u << 7)
#define OMAP_DST_PACKED   (1u << 13)
#define OMAP_DST_BURST_64 (3u << 14)
/* Bits 16 and 17 stay 0: each write waits for its response. */

/* Limits of the fields. An index is a signed number. */
#define OMAP_ELEMENTS_MAX 0xffffffu
#define OMAP_FRAMES_MAX   0xffffu
#define OMAP_EI_MAX       0x7fff

#endif /* MLI_OMAP_REGISTERS_H */
