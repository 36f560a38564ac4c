/* SPDX-License-Identifier: BSD-3-Clause */
/* The Versatile/PB926EJ-S, and QEMU's model of it, versatilepb. */
#include "firmware/board.h"

#include "firmware/boards/versatilepb/inject.h"
#include "firmware/boards/versatilepb/memory_map.h"
#include "firmware/lib/firmware.h"
#include "libmli/port/pl080/pl080_engine.h"

const char board_name[] = "versatilepb";
const struct mli_engine *const board_engine = &pl080_engine;

/* From the linker script. */
extern uint8_t tensors_begin[], tensors_end[];

static volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/* Console: UART0, a PL011 (DDI 0183) */

enum {
    UART_DR = 0x00,
    UART_FR = 0x18,
    UART_IBRD = 0x24,
    UART_FBRD = 0x28,
    UART_LCRH = 0x2C,
    UART_CR = 0x30
};

#define UART_FR_RX_EMPTY (1u << 4)
#define UART_FR_TX_FULL  (1u << 5)
#define UART_LCRH_8_FIFO 0x70u
#define UART_CR_ENABLE   0x301u /* the UART, transmit, receive */

static void uart_init(void)
{
    const uint32_t divisor = (UART_CLOCK * 4u + UART_BAUD / 2) / UART_BAUD; /* in parts of 64 */

    *word_at(UART0_BASE + UART_CR) = 0;
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

/*
 * Time: a counter of 24 MHz and 32 bits (SYS_24MHZ). It wraps after 178 s: the function must be
 * called more often.
 */

enum { SYS_24MHZ = 0x5C };

uint64_t board_time_ns(void)
{
    static uint64_t ticks;
    const bool before = board_interrupts(false);
    uint64_t now;

    ticks += (uint32_t)(*word_at(SYSTEM_BASE + SYS_24MHZ) - (uint32_t)ticks);
    now = ticks;
    if (before)
        (void)board_interrupts(true);
    return now * 125 / 3;
}

/* Interrupts: the primary controller, a PL190 (DDI 0181), without its vectors. */

enum { VIC_IRQ_STATUS = 0x00, VIC_SELECT = 0x0C, VIC_ENABLE = 0x10, VIC_DISABLE = 0x14 };

static uint32_t dma_interrupts;

uint32_t board_dma_interrupts(void)
{
    return dma_interrupts;
}

/* start.S calls these functions. */
void board_interrupt(void);
void board_crash(uint32_t cause, uint32_t at, uint32_t address);

void board_interrupt(void)
{
    if (!(*word_at(VIC_BASE + VIC_IRQ_STATUS) >> IRQ_DMAC & 1))
        return;
    dma_interrupts++;
    pl080_interrupt();
}

/* `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
}

/* DMA. Data caches are off (start.S), and the addresses of the bus are those of the processor. */

static uintptr_t lock(void)
{
    return board_interrupts(false);
}

static void unlock(uintptr_t before)
{
    if (before)
        (void)board_interrupts(true);
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
    static const struct pl080_platform dma = {
        .base = DMAC_BASE,
        .interrupts = true,
        .read = inject_read,
        .write = inject_write,
        .lock = lock,
        .unlock = unlock,
        .clock_ns = board_time_ns,
    };

    uart_init();
    *word_at(VIC_BASE + VIC_DISABLE) = UINT32_MAX;
    *word_at(VIC_BASE + VIC_SELECT) = 0;
    *word_at(VIC_BASE + VIC_ENABLE) = 1u << IRQ_DMAC;
    pl080_set_platform(&dma);
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
