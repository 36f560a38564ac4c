/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers and descriptors of the ZDMA of AMD Zynq UltraScale+. Sources: Zynq UltraScale+ Device
 * TRM (UG1085), chapter 19 "DMA Controller"; Zynq UltraScale+ Devices Register Reference (UG1087),
 * module ZDMA.
 *
 *   side        source (SRC) or destination (DST) of a channel
 *   element     one entry of the descriptor queue of a side: a run of contiguous bytes
 *   linear      an element of 16 bytes; the next element follows it
 *   linked      an element of 32 bytes, with the address of the next element
 */
#ifndef MLI_ZDMA_REGISTERS_H
#define MLI_ZDMA_REGISTERS_H

/* Offsets from the base address of a channel. */
enum zdma_register {
    ZDMA_ISR = 0x100, /* a write of 1 clears a bit */
    ZDMA_IMR = 0x104, /* read only; 1: masked */
    ZDMA_IEN = 0x108, /* a write of 1 unmasks */
    ZDMA_IDS = 0x10c, /* a write of 1 masks */
    ZDMA_CTRL0 = 0x110,
    ZDMA_STATUS = 0x11c,
    ZDMA_DATA_ATTR = 0x120,
    ZDMA_DSCR_ATTR = 0x124,
    ZDMA_SRC_WORD0 = 0x128, /* four registers, as words 0 to 3 of an element */
    ZDMA_SRC_WORD1 = 0x12c,
    ZDMA_SRC_WORD2 = 0x130,
    ZDMA_SRC_WORD3 = 0x134,
    ZDMA_DST_WORD0 = 0x138,
    ZDMA_DST_WORD1 = 0x13c,
    ZDMA_DST_WORD2 = 0x140,
    ZDMA_DST_WORD3 = 0x144,
    ZDMA_PATTERN0 = 0x148, /* WR_ONLY_WORD0 to 3 */
    ZDMA_PATTERN3 = 0x154,
    ZDMA_SRC_START_LSB = 0x158,
    ZDMA_SRC_START_MSB = 0x15c,
    ZDMA_DST_START_LSB = 0x160,
    ZDMA_DST_START_MSB = 0x164,
    ZDMA_DST_COUNT = 0x194, /* IRQ_DST_ACCT: elements done with INTR; a read clears it */
    ZDMA_CTRL2 = 0x200,
};

/* Interrupts: bits of ISR, IMR, IEN and IDS. */
#define ZDMA_AXI_RD_SRC_DSCR (1u << 6)
#define ZDMA_AXI_RD_DST_DSCR (1u << 7)
#define ZDMA_AXI_RD_DATA     (1u << 8)
#define ZDMA_AXI_WR_DATA     (1u << 9)
#define ZDMA_DMA_DONE        (1u << 10)
#define ZDMA_DMA_PAUSE       (1u << 11)
#define ZDMA_ALL_INTERRUPTS  0xfffu
#define ZDMA_BUS_ERRORS                                                                            \
    (ZDMA_AXI_RD_SRC_DSCR | ZDMA_AXI_RD_DST_DSCR | ZDMA_AXI_RD_DATA | ZDMA_AXI_WR_DATA)

/* CTRL0. OVER_FETCH lets reads extend to the end of the last word of the bus. */
#define ZDMA_CONT           (1u << 1)
#define ZDMA_WRITE_ONLY     (1u << 4)
#define ZDMA_SCATTER_GATHER (1u << 6)
#define ZDMA_OVER_FETCH     (1u << 7)

/* STATUS */
#define ZDMA_STATE       3u
#define ZDMA_STATE_BUSY  2u
#define ZDMA_STATE_ERROR 3u

/* CTRL2 */
#define ZDMA_ENABLE 1u

/*
 * DATA_ATTR: incrementing bursts of 16 beats. The cache attributes of reads (bits 25:22) and writes
 * (bits 11:8) are 2 after a reset: normal, not cacheable.
 */
#define ZDMA_DATA_ATTR_RESET    0x0483d20fu
#define ZDMA_DATA_ATTR_COHERENT (0xfu << 22 | 0xfu << 8)

/* DSCR_ATTR */
#define ZDMA_DSCR_ATTR_COHERENT (1u << 8 | 0xfu << 4)

/* Word 3 of an element. */
#define ZDMA_COHERENT (1u << 0)
#define ZDMA_LINKED   (1u << 1)
#define ZDMA_INTR     (1u << 2)
/* Commands of a source element, after its bytes; 0: go on with the next element. */
#define ZDMA_PAUSE (1u << 3)
#define ZDMA_STOP  (2u << 3)

/* Words of an element. Words 6 and 7 are 0. */
enum { ZDMA_LINEAR_WORDS = 4, ZDMA_LINKED_WORDS = 8 };
#define ZDMA_SIZE_MAX 0x3fffffffu /* 30 bits of word 2 */

#endif /* MLI_ZDMA_REGISTERS_H */
