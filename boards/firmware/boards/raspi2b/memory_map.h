/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses and interrupt numbers of the Raspberry Pi 2. Source: BCM2835 ARM Peripherals, chapters
 * 1.2 (addresses), 4 (DMA), 6 (GPIO), 7 (interrupts), 12 (system timer) and 13 (UART). The manual
 * has the devices at 0x20000000 of the processor's addresses; the BCM2836 of the Raspberry Pi 2 has
 * them at 0x3F000000. BCM2711 ARM Peripherals, chapter 6.2.4: the interrupts of the DMA channels.
 */
#ifndef RASPI2B_MEMORY_MAP_H
#define RASPI2B_MEMORY_MAP_H

#define DEVICES_BASE 0x3F000000u
#define TIMER_BASE   (DEVICES_BASE + 0x003000u)
#define DMA_BASE     (DEVICES_BASE + 0x007000u)
#define IRQ_BASE     (DEVICES_BASE + 0x00B200u)
#define GPIO_BASE    (DEVICES_BASE + 0x200000u)
#define UART0_BASE   (DEVICES_BASE + 0x201000u)

/* Bus addresses of memory: the alias that no cache of the GPU sees (chapter 1.2.4). */
#define BUS_UNCACHED 0xC0000000u
#define BUS_MASK     0x3FFFFFFFu

/* GPU interrupts: channel n of the DMA controller has number IRQ_DMA_0 + n. */
enum { IRQ_DMA_0 = 16, IRQ_DMA_10 = 26 };

/*
 * Channels that the engine uses: 0 to 6 are full channels, 8 is a lite channel. On a board, the
 * firmware of the GPU says in its device tree which channels it leaves to the processor.
 */
#define DMA_CHANNELS 0x17Fu

enum { UART_CLOCK = 48000000, UART_BAUD = 115200 };

#endif /* RASPI2B_MEMORY_MAP_H */
