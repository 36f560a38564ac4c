/* SPDX-License-Identifier: BSD-3-Clause */
/* The Raspberry Pi 2, and QEMU's model of it, raspi2b. */
#include "boards/firmware/board.h"

#include "boards/drivers/bcm2835.h"

/*
 * Addresses and interrupt numbers of the Raspberry Pi 2. Source: BCM2835 ARM Peripherals, chapters
 * 1.2 (addresses), 4 (DMA), 6 (GPIO), 7 (interrupts), 12 (system timer) and 13 (UART). The manual
 * has the devices at 0x20000000 of the processor's addresses; the BCM2836 of the Raspberry Pi 2 has
 * them at 0x3F000000. BCM2711 ARM Peripherals, chapter 6.2.4: the interrupts of the DMA channels.
 */

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

const char board_name[] = "raspi2b";
const struct mli_engine *const board_engine = &bcm2835_engine;

/* Console: UART0, a PL011 (chapter 13), on GPIO 14 and 15 (chapter 6). */

enum {
    GPFSEL1 = 0x04, /* three bits for each of GPIO 10 to 19 */
    UART_DR = 0x00,
    UART_FR = 0x18,
    UART_IBRD = 0x24,
    UART_FBRD = 0x28,
    UART_LCRH = 0x2C,
    UART_CR = 0x30
};

#define GPIO_14_15_MASK  (0x3Fu << 12)
#define GPIO_14_15_ALT0  (0x24u << 12)
#define UART_FR_RX_EMPTY (1u << 4)
#define UART_FR_TX_FULL  (1u << 5)
#define UART_LCRH_8_FIFO 0x70u
#define UART_CR_ENABLE   0x301u /* enable the UART, transmitter and receiver */

static void uart_init(void)
{
    const uint32_t divisor =
        (UART_CLOCK * 4u + UART_BAUD / 2) / UART_BAUD; /* divisor in units of 1/64 */
    volatile uint32_t *select = word_at(GPIO_BASE + GPFSEL1);

    *word_at(UART0_BASE + UART_CR) = 0;
    *select = (*select & ~GPIO_14_15_MASK) | GPIO_14_15_ALT0;
    *word_at(UART0_BASE + UART_IBRD) = divisor / 64;
    *word_at(UART0_BASE + UART_FBRD) = divisor % 64;
    *word_at(UART0_BASE + UART_LCRH) = UART_LCRH_8_FIFO;
    *word_at(UART0_BASE + UART_CR) = UART_CR_ENABLE;
}

void console_put(uint8_t byte)
{
    while (*word_at(UART0_BASE + UART_FR) & UART_FR_TX_FULL)
        ;
    *word_at(UART0_BASE + UART_DR) = byte;
}

int console_get(void)
{
    if (*word_at(UART0_BASE + UART_FR) & UART_FR_RX_EMPTY)
        return -1;
    return (uint8_t)*word_at(UART0_BASE + UART_DR);
}

/* Time: the system timer counts microseconds (chapter 12). */

enum { TIMER_LOW = 0x04, TIMER_HIGH = 0x08, TIMER_NS = 1000 };

uint64_t board_time_ns(void)
{
    uint32_t high, low;

    do {
        high = *word_at(TIMER_BASE + TIMER_HIGH);
        low = *word_at(TIMER_BASE + TIMER_LOW);
    } while (high != *word_at(TIMER_BASE + TIMER_HIGH));
    return ((uint64_t)high << 32 | low) * TIMER_NS;
}

/* Interrupts (chapter 7). A write of 1 to a bit enables or disables an interrupt. */

enum { IRQ_PENDING_1 = 0x04, IRQ_ENABLE_1 = 0x10, IRQ_DISABLE_1 = 0x1C };

static void mask(uint32_t channel, bool masked)
{
    *word_at(IRQ_BASE + (masked ? IRQ_DISABLE_1 : IRQ_ENABLE_1)) = 1u << (IRQ_DMA_0 + channel);
}

/* start.S calls this function for each interrupt. */
void board_interrupt(void);

/* The register shows the pending interrupts that are enabled. */
void board_interrupt(void)
{
    const uint32_t pending = *word_at(IRQ_BASE + IRQ_PENDING_1);

    for (uint32_t irq = IRQ_DMA_0; irq <= IRQ_DMA_10; irq++) {
        if (!(pending >> irq & 1))
            continue;
        board_dma_interrupts++;
        bcm2835_interrupt(irq - IRQ_DMA_0);
    }
}

/* DMA. Data caches are off (start.S), so only addresses differ. */

static uint64_t bus_address(const void *address)
{
    return ((uintptr_t)address & BUS_MASK) | BUS_UNCACHED;
}

void board_init(void)
{
    static const struct mli_platform memory = {
        .size = sizeof(memory),
        .bus_address = bus_address,
    };
    static const struct bcm2835_platform dma = {
        .base = DMA_BASE,
        .channels = DMA_CHANNELS,
        .unit = 4,
        .mask = mask,
        .clock_ns = board_time_ns,
    };

    uart_init();
    *word_at(IRQ_BASE + IRQ_DISABLE_1) = UINT32_MAX;
    (void)mli_mov_set_platform(&memory);
    bcm2835_set_platform(&dma);
}
