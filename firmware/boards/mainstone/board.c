/* SPDX-License-Identifier: BSD-3-Clause */
/* The Mainstone II with a PXA270, and QEMU's model of it, mainstone. */
#include "firmware/board.h"

#include "firmware/boards/mainstone/inject.h"
#include "firmware/boards/mainstone/memory_map.h"
#include "firmware/lib/firmware.h"
#include "libmli/port/pxa27x/pxa27x_engine.h"
#include "libmli/port/pxa27x/pxa27x_registers.h"

const char board_name[] = "mainstone";
const struct mli_engine *const board_engine = &pxa27x_engine;

/* From the linker script. */
extern uint8_t tensors_begin[], tensors_end[];

static volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/* Console: FFUART, like a 16550 with registers of 4 bytes */

enum {
    UART_DATA = 0x00,
    UART_DIVISOR_LOW = 0x00, /* with UART_LINE_DIVISOR */
    UART_ENABLE = 0x04,
    UART_DIVISOR_HIGH = 0x04, /* likewise */
    UART_FIFO = 0x08,
    UART_LINE = 0x0C,
    UART_STATUS = 0x14
};

#define UART_ENABLE_UNIT    (1u << 6) /* no interrupts */
#define UART_FIFO_ENABLE    0x07u     /* and clear */
#define UART_LINE_8         0x03u
#define UART_LINE_DIVISOR   (1u << 7)
#define UART_STATUS_RX_DATA (1u << 0)
#define UART_STATUS_TX_ROOM (1u << 5)

static void uart_init(void)
{
    const uint32_t divisor = UART_CLOCK / 16 / UART_BAUD;

    *word_at(FFUART_BASE + UART_LINE) = UART_LINE_8 | UART_LINE_DIVISOR;
    *word_at(FFUART_BASE + UART_DIVISOR_LOW) = divisor % 256;
    *word_at(FFUART_BASE + UART_DIVISOR_HIGH) = divisor / 256;
    *word_at(FFUART_BASE + UART_LINE) = UART_LINE_8;
    *word_at(FFUART_BASE + UART_FIFO) = UART_FIFO_ENABLE;
    *word_at(FFUART_BASE + UART_ENABLE) = UART_ENABLE_UNIT;
}

void board_write(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < count; i++) {
        while (!(*word_at(FFUART_BASE + UART_STATUS) & UART_STATUS_TX_ROOM))
            ;
        *word_at(FFUART_BASE + UART_DATA) = from[i];
    }
}

size_t board_read(void *to, size_t room)
{
    uint8_t *bytes = to;
    size_t count = 0;

    while (count < room && *word_at(FFUART_BASE + UART_STATUS) & UART_STATUS_RX_DATA)
        bytes[count++] = (uint8_t)*word_at(FFUART_BASE + UART_DATA);
    return count;
}

/* Time: OSCR0, a counter of 3.25 MHz and 32 bits. It wraps after 22 minutes. */

enum { OSCR0 = 0x10 };

uint64_t board_time_ns(void)
{
    static uint64_t ticks;
    const bool before = board_interrupts(false);
    uint64_t now;

    ticks += (uint32_t)(*word_at(OS_BASE + OSCR0) - (uint32_t)ticks);
    now = ticks;
    if (before)
        (void)board_interrupts(true);
    return now * 4000 / 13;
}

/* Interrupts */

enum { INTC_PENDING = 0x00, INTC_MASK = 0x04, INTC_LEVEL = 0x08 };

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
    if (!(*word_at(INTC_BASE + INTC_PENDING) >> IRQ_DMAC & 1))
        return;
    dma_interrupts++;
    pxa27x_interrupt();
}

/* `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
}

/* DMA. Memory is not cached (start.S), and the addresses of the bus are those of the processor. */

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
    static const struct pxa27x_platform dma = {
        .base = DMAC_BASE,
        .channels = UINT32_MAX,
        .command = PXA27X_WIDTH_1, /* QEMU 7.2 */
        .interrupts = true,
        .read = inject_read,
        .write = inject_write,
        .lock = lock,
        .unlock = unlock,
        .clock_ns = board_time_ns,
    };

    uart_init();
    *word_at(INTC_BASE + INTC_LEVEL) = 0;             /* interrupts, not fast interrupts */
    *word_at(INTC_BASE + INTC_MASK) = 1u << IRQ_DMAC; /* a bit that is set lets it through */
    pxa27x_set_platform(&dma);
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
