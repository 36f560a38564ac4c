/* SPDX-License-Identifier: BSD-3-Clause */
/* The Raspberry Pi 2, and QEMU's model of it, raspi2b. */
#include "boards/firmware/board.h"

#include "boards/drivers/bcm2835.h"
#include "boards/firmware/boards/raspi2b/inject.h"
#include "boards/firmware/boards/raspi2b/memory_map.h"
#include "boards/firmware/lib/firmware.h"

const char board_name[] = "raspi2b";
const struct mli_engine *const board_engine = &bcm2835_engine;

/* From the linker script. */
extern uint8_t tensors_begin[], tensors_end[];

static volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

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
#define UART_CR_ENABLE   0x301u /* the UART, transmit, receive */

static void uart_init(void)
{
    const uint32_t divisor = (UART_CLOCK * 4u + UART_BAUD / 2) / UART_BAUD; /* in parts of 64 */
    volatile uint32_t *select = word_at(GPIO_BASE + GPFSEL1);

    *word_at(UART0_BASE + UART_CR) = 0;
    *select = (*select & ~GPIO_14_15_MASK) | GPIO_14_15_ALT0;
    *word_at(UART0_BASE + UART_IBRD) = divisor / 64;
    *word_at(UART0_BASE + UART_FBRD) = divisor % 64;
    *word_at(UART0_BASE + UART_LCRH) = UART_LCRH_8_FIFO;
    *word_at(UART0_BASE + UART_CR) = UART_CR_ENABLE;
}

void board_write(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < count; i++) {
        while (*word_at(UART0_BASE + UART_FR) & UART_FR_TX_FULL)
            ;
        *word_at(UART0_BASE + UART_DR) = from[i];
    }
}

size_t board_read(void *to, size_t room)
{
    uint8_t *bytes = to;
    size_t count = 0;

    while (count < room && !(*word_at(UART0_BASE + UART_FR) & UART_FR_RX_EMPTY))
        bytes[count++] = (uint8_t)*word_at(UART0_BASE + UART_DR);
    return count;
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

static uint32_t dma_interrupts;

uint32_t board_dma_interrupts(void)
{
    return dma_interrupts;
}

static void mask(uint32_t channel, bool masked)
{
    *word_at(IRQ_BASE + (masked ? IRQ_DISABLE_1 : IRQ_ENABLE_1)) = 1u << (IRQ_DMA_0 + channel);
}

/* start.S calls these functions. */
void board_interrupt(void);
void board_crash(uint32_t cause, uint32_t at, uint32_t address);

/* The register has pending interrupts that are enabled. */
void board_interrupt(void)
{
    const uint32_t pending = *word_at(IRQ_BASE + IRQ_PENDING_1);

    for (uint32_t irq = IRQ_DMA_0; irq <= IRQ_DMA_10; irq++) {
        if (!(pending >> irq & 1))
            continue;
        dma_interrupts++;
        bcm2835_interrupt(irq - IRQ_DMA_0);
    }
}

/* `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
}

/* DMA. Data caches are off (start.S), so only addresses differ. */

static uint64_t bus_address(const void *address)
{
    return ((uintptr_t)address & BUS_MASK) | BUS_UNCACHED;
}

uint8_t *board_memory_end(void)
{
    return NULL;
}

struct board_memory board_memory(void)
{
    return (struct board_memory){tensors_begin, (size_t)(tensors_end - tensors_begin)};
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
        .read = inject_read,
        .write = inject_write,
        .clock_ns = board_time_ns,
    };

    uart_init();
    *word_at(IRQ_BASE + IRQ_DISABLE_1) = UINT32_MAX;
    (void)mli_mov_set_platform(&memory);
    bcm2835_set_platform(&dma);
}

bool board_arguments(char *to, size_t room)
{
    return semihosting_arguments(to, room);
}

void board_exit(int status)
{
    semihosting_exit(status);
    (void)board_interrupts(false);
    for (;;)
        board_idle();
}
