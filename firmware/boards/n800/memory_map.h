/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of the OMAP2420. Sources: TI's public manuals of the OMAP24xx,
 * and the names and numbers of registers in public headers.
 */
#ifndef N800_MEMORY_MAP_H
#define N800_MEMORY_MAP_H

#define COUNTER_BASE 0x48004000u /* 32 kHz */
#define SDMA_BASE    0x48056000u
#define UART1_BASE   0x4806A000u
#define INTC_BASE    0x480FE000u

enum { IRQ_SDMA_L0 = 12 };

enum { COUNTER_HZ = 32768, UART_CLOCK = 48000000, UART_BAUD = 115200 };

#endif /* N800_MEMORY_MAP_H */
