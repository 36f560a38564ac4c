/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of Zynq-7000 (UG585, "System Addresses", "Interrupts" and the
 * chapters of the devices), as QEMU's xilinx-zynq-a9 has them.
 */
#ifndef ZYNQ_MEMORY_MAP_H
#define ZYNQ_MEMORY_MAP_H

#define UART0_BASE        0xE0000000u
#define DMAC_BASE         0xF8003000u /* its secure registers */
#define GIC_CPU_BASE      0xF8F00100u
#define GLOBAL_TIMER_BASE 0xF8F00200u
#define GIC_BASE          0xF8F01000u /* the distributor */

/* Nanoseconds of a count: half of the processor's clock of 667 MHz; in QEMU 100 MHz. */
enum { GLOBAL_TIMER_NS = 3, GLOBAL_TIMER_MODEL_NS = 10 };

/* Interrupts of the DMA controller: aborts, and events 0 to 3 and 4 to 7. */
enum { IRQ_DMAC_ABORT = 45, IRQ_DMAC_0 = 46, IRQ_DMAC_3 = 49, IRQ_DMAC_4 = 72, IRQ_DMAC_7 = 75 };

enum { DMAC_FIFO_LINES = 128 }; /* of 64 bits */

#endif /* ZYNQ_MEMORY_MAP_H */
