/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of FU540-C000 (Freedom U540-C000 Manual, "Memory Map" and
 * "Interrupt Sources"), as QEMU's sifive_u has them.
 */
#ifndef SIFIVE_U_MEMORY_MAP_H
#define SIFIVE_U_MEMORY_MAP_H

#define CLINT_MSIP  0x02000000u /* a word for each processor: 1 requests a software interrupt */
#define CLINT_MTIME 0x0200BFF8u /* a counter of 64 bits at 1 MHz */
#define PDMA_BASE   0x03000000u
#define PLIC_BASE   0x0C000000u
#define UART0_BASE  0x10010000u

/* Two interrupts of each channel of the PDMA: done, then error. */
enum { IRQ_PDMA_FIRST = 23, IRQ_PDMA_LAST = 30 };

#endif /* SIFIVE_U_MEMORY_MAP_H */
