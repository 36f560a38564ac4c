/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers and linked list items of the Arm PrimeCell DMA controller (PL080). Source: its
 * technical reference manual, ARM DDI 0196, chapter 3.
 */
#ifndef MLI_PL080_REGISTERS_H
#define MLI_PL080_REGISTERS_H

#include <stdint.h>

/* Offsets of the registers. In those that have a bit for each channel, bit n is channel n. */
enum pl080_register {
    PL080_INT_STATUS = 0x000,
    PL080_INT_TC_STATUS = 0x004,
    PL080_INT_TC_CLEAR = 0x008,
    PL080_INT_ERROR_STATUS = 0x00c,
    PL080_INT_ERROR_CLEAR = 0x010,
    PL080_RAW_TC_STATUS = 0x014,
    PL080_RAW_ERROR_STATUS = 0x018,
    PL080_ENABLED_CHANNELS = 0x01c,
    PL080_CONFIGURATION = 0x030,
    PL080_CHANNELS = 0x100,
    PL080_PERIPH_ID = 0xfe0, /* four words, a byte in each */
};

/* Offsets from PL080_CHANNELS + n * PL080_CHANNEL_BYTES. */
enum pl080_channel_register {
    PL080_C_SRC = 0x00,
    PL080_C_DST = 0x04,
    PL080_C_LLI = 0x08,
    PL080_C_CONTROL = 0x0c,
    PL080_C_CONFIGURATION = 0x10,
    PL080_CHANNEL_BYTES = 0x20
};

#define PL080_ENABLE 1u /* of PL080_CONFIGURATION; little-endian masters */

/* The identification: part number in bits 0 to 11, log2(channels) - 1 in bits 24 to 26. */
#define PL080_ID_PART(id)     ((id)&0xfffu)
#define PL080_ID_CHANNELS(id) (2u << ((id) >> 24 & 7))

/* DMACCxControl */
#define PL080_SIZE_MAX        0xfffu /* transfers of an item */
#define PL080_SRC_BURST(log2) ((uint32_t)(log2) << 12)
#define PL080_DST_BURST(log2) ((uint32_t)(log2) << 15)
#define PL080_BURST_4         1u
#define PL080_SRC_WIDTH(log2) ((uint32_t)(log2) << 18)
#define PL080_DST_WIDTH(log2) ((uint32_t)(log2) << 21)
#define PL080_SRC_INCREMENT   (1u << 26)
#define PL080_DST_INCREMENT   (1u << 27)
#define PL080_PROTECTION      (1u << 28) /* privileged */
#define PL080_TC_INTERRUPT    (1u << 31)

/* DMACCxConfiguration. Flow control 0: memory to memory, by the controller. */
#define PL080_C_ENABLE          (1u << 0)
#define PL080_C_ERROR_INTERRUPT (1u << 14)
#define PL080_C_TC_INTERRUPT    (1u << 15)
#define PL080_C_ACTIVE          (1u << 17) /* the channel's FIFO has data */
#define PL080_C_HALT            (1u << 18) /* take no further requests of the source */

/* A linked list item, at a multiple of 4 bytes. Its words are the first registers of a channel. */
struct pl080_item {
    uint32_t src, dst, next, control;
};
_Static_assert(sizeof(struct pl080_item) == 16, "an item has 4 words");

#endif /* MLI_PL080_REGISTERS_H */
