/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers and control blocks of the DMA controller of the Broadcom BCM2835. Sources: BCM2835 ARM
 * Peripherals, chapter 4 "DMA Controller"; BCM2711 ARM Peripherals, chapter 4, which describes the
 * same channels, and says for DMA4 channels that YLENGTH is the number of rows minus 1.
 */
#ifndef MLI_BCM2835_REGISTERS_H
#define MLI_BCM2835_REGISTERS_H

#include <stdint.h>

/* Offsets from the base address of a channel. Channel n is at n * BCM2835_CHANNEL_BYTES. */
enum bcm2835_register {
    BCM2835_CS = 0x00,
    BCM2835_CONBLK_AD = 0x04,
    BCM2835_TI = 0x08, /* from here to NEXTCONBK: the control block, changed as the channel goes */
    BCM2835_SOURCE_AD = 0x0c,
    BCM2835_DEST_AD = 0x10,
    BCM2835_TXFR_LEN = 0x14,
    BCM2835_STRIDE = 0x18,
    BCM2835_NEXTCONBK = 0x1c,
    BCM2835_DEBUG = 0x20,
    BCM2835_CHANNEL_BYTES = 0x100,
    BCM2835_ENABLE = 0xff0, /* of all channels: bit n enables channel n */
};

/* CS. A write of 1 clears END and INT. */
#define BCM2835_CS_ACTIVE       (1u << 0)
#define BCM2835_CS_END          (1u << 1)
#define BCM2835_CS_INT          (1u << 2)
#define BCM2835_CS_PAUSED       (1u << 4)
#define BCM2835_CS_WAITING      (1u << 6) /* for the responses to the last writes */
#define BCM2835_CS_ERROR        (1u << 8)
#define BCM2835_CS_PRIORITY     (8u << 16)
#define BCM2835_CS_COUNT_WRITES (1u << 28) /* set END and INT when memory has the last byte */
#define BCM2835_CS_ABORT        (1u << 30)
#define BCM2835_CS_RESET        (1u << 31)

/* TI */
#define BCM2835_TI_INTEN       (1u << 0)
#define BCM2835_TI_TDMODE      (1u << 1)
#define BCM2835_TI_WAIT_RESP   (1u << 3)
#define BCM2835_TI_DEST_INC    (1u << 4)
#define BCM2835_TI_DEST_WIDE   (1u << 5) /* accesses of 128 bits */
#define BCM2835_TI_SRC_INC     (1u << 8)
#define BCM2835_TI_SRC_WIDE    (1u << 9)
#define BCM2835_TI_BURST_SHIFT 12

/* DEBUG. A write of 1 clears an error. */
#define BCM2835_DEBUG_ERRORS       7u
#define BCM2835_DEBUG_WRITES_SHIFT 4 /* writes without a response, 4 bits */
#define BCM2835_DEBUG_WRITES_MAX   15u

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

#endif /* MLI_BCM2835_REGISTERS_H */
