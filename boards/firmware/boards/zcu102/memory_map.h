/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of the Zynq UltraScale+ (UG1085: chapter 10, system addresses;
 * chapter 13, system interrupts; UG1087), as QEMU's xlnx-zcu102 has them.
 */
#ifndef ZCU102_MEMORY_MAP_H
#define ZCU102_MEMORY_MAP_H

#define GICD_BASE     0xF9010000u
#define GICC_BASE     0xF9020000u
#define UART0_BASE    0xFF000000u
#define GDMA_BASE     0xFD500000u /* FPD DMA, eight channels */
#define ADMA_BASE     0xFFA80000u /* LPD DMA, eight channels */
#define CHANNEL_BYTES 0x10000u

enum {
    DMA_CHANNELS = 8, /* of each controller */
    IRQ_ADMA_FIRST = 109,
    IRQ_GDMA_FIRST = 156,
    IRQ_SPURIOUS = 1023,
};

#endif /* ZCU102_MEMORY_MAP_H */
