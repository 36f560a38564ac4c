/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of the Versatile/PB926EJ-S. Source: its user guide (ARM DUI
 * 0224), chapters 3 and 4.
 */
#ifndef VERSATILEPB_MEMORY_MAP_H
#define VERSATILEPB_MEMORY_MAP_H

#define SYSTEM_BASE 0x10000000u
#define DMAC_BASE   0x10130000u
#define VIC_BASE    0x10140000u /* the primary interrupt controller, a PL190 */
#define UART0_BASE  0x101F1000u

enum { IRQ_DMAC = 17 };

enum { UART_CLOCK = 24000000, UART_BAUD = 115200 };

#endif /* VERSATILEPB_MEMORY_MAP_H */
