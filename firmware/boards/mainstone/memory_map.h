/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of the PXA270. Source: PXA27x Processor Family Developer's
 * Manual, chapters 5, 10, 22, 25 and 28.
 */
#ifndef MAINSTONE_MEMORY_MAP_H
#define MAINSTONE_MEMORY_MAP_H

#define DMAC_BASE   0x40000000u
#define FFUART_BASE 0x40100000u
#define OS_BASE     0x40A00000u /* timers */
#define INTC_BASE   0x40D00000u

enum { IRQ_DMAC = 25 };

enum { UART_CLOCK = 14745600, UART_BAUD = 115200 };

#endif /* MAINSTONE_MEMORY_MAP_H */
