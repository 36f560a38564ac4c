/* SPDX-License-Identifier: BSD-3-Clause */
/* The Nokia N800 with an OMAP2420, and QEMU's model of it, n800. */
#include "firmware/board.h"

#include "firmware/boards/n800/inject.h"
#include "firmware/boards/n800/memory_map.h"
#include "firmware/lib/firmware.h"
#include "libmli/port/omap/omap_engine.h"

const char board_name[] = "n800";
const struct mli_engine *const board_engine = &omap_engine;

/* From the linker script. */
extern uint8_t tensors_begin[], tensors_end[];

static volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/* Registers of the UART have 8 bits. */
static volatile uint8_t *byte_at(uintptr_t address)
{
    return (volatile uint8_t *)address;
}

/* Console: UART1, like a 16550 with registers of 4 bytes */

enum {
    UART_DATA = 0x00,
    UART_DIVISOR_LOW = 0x00, /* with UART_LINE_DIVISOR */
    UART_DIVISOR_HIGH = 0x04,
    UART_FIFO = 0x08,
    UART_LINE = 0x0C,
    UART_STATUS = 0x14,
    UART_MODE = 0x20
};

#define UART_FIFO_ENABLE    0x07u /* and clear */
#define UART_LINE_8         0x03u
#define UART_LINE_DIVISOR   (1u << 7)
#define UART_STATUS_RX_DATA (1u << 0)
#define UART_STATUS_TX_ROOM (1u << 5)
#define UART_MODE_16X       0u
#define UART_MODE_DISABLED  7u

static void uart_init(void)
{
    const uint32_t divisor = (UART_CLOCK / 16 + UART_BAUD / 2) / UART_BAUD;

    *byte_at(UART1_BASE + UART_MODE) = UART_MODE_DISABLED;
    *byte_at(UART1_BASE + UART_LINE) = UART_LINE_8 | UART_LINE_DIVISOR;
    *byte_at(UART1_BASE + UART_DIVISOR_LOW) = (uint8_t)(divisor % 256);
    *byte_at(UART1_BASE + UART_DIVISOR_HIGH) = (uint8_t)(divisor / 256);
    *byte_at(UART1_BASE + UART_LINE) = UART_LINE_8;
    *byte_at(UART1_BASE + UART_FIFO) = UART_FIFO_ENABLE;
    *byte_at(UART1_BASE + UART_MODE) = UART_MODE_16X;
}

void board_write(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < count; i++) {
        while (!(*byte_at(UART1_BASE + UART_STATUS) & UART_STATUS_TX_ROOM))
            ;
        *byte_at(UART1_BASE + UART_DATA) = from[i];
    }
}

size_t board_read(void *to, size_t room)
{
    uint8_t *bytes = to;
    size_t count = 0;

    while (count < room && *byte_at(UART1_BASE + UART_STATUS) & UART_STATUS_RX_DATA)
        bytes[count++] = *byte_at(UART1_BASE + UART_DATA);
    return count;
}

/* Time: the synchronised counter of 32 kHz and 32 bits. It wraps after 36 hours. */

enum { COUNTER_NOW = 0x10 };

uint64_t board_time_ns(void)
{
    static uint64_t ticks;
    const bool before = board_interrupts(false);
    uint64_t now;

    ticks += (uint32_t)(*word_at(COUNTER_BASE + COUNTER_NOW) - (uint32_t)ticks);
    now = ticks;
    if (before)
        (void)board_interrupts(true);
    return now * (1000000000u / 512) / (COUNTER_HZ / 512);
}

/* Interrupts. Registers of each 32 interrupts are 32 bytes apart; those of the first are used. */

enum {
    INTC_SIR = 0x40,
    INTC_CONTROL = 0x48,
    INTC_MASK_CLEAR = 0x88,
    INTC_MASK_SET = 0x8C,
    INTC_BANK_BYTES = 0x20,
    INTC_BANKS = 3
};

#define INTC_SIR_ACTIVE  0x7Fu
#define INTC_NEW_REQUEST 1u

static uint32_t dma_interrupts;

uint32_t board_dma_interrupts(void)
{
    return dma_interrupts;
}

/* start.S calls these functions. */
void board_interrupt(void);
void board_crash(uint32_t cause, uint32_t at, uint32_t address);

/* The interrupt is silent before the controller looks for the next one. */
void board_interrupt(void)
{
    if ((*word_at(INTC_BASE + INTC_SIR) & INTC_SIR_ACTIVE) == IRQ_SDMA_L0) {
        dma_interrupts++;
        omap_interrupt();
    }
    *word_at(INTC_BASE + INTC_CONTROL) = INTC_NEW_REQUEST;
}

/* `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
}

static void interrupts_init(void)
{
    for (uint32_t bank = 0; bank < INTC_BANKS; bank++)
        *word_at(INTC_BASE + INTC_MASK_SET + bank * INTC_BANK_BYTES) = UINT32_MAX;
    *word_at(INTC_BASE + INTC_MASK_CLEAR) = 1u << IRQ_SDMA_L0;
    *word_at(INTC_BASE + INTC_CONTROL) = INTC_NEW_REQUEST;
}

/* The DMA controller. The start-up code disables the data cache, and the controller uses the
 * addresses of the processor. */

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
    static const struct omap_platform dma = {
        .base = SDMA_BASE,
        .channels = UINT32_MAX,
        .interrupts = true,
        .read = inject_read,
        .write = inject_write,
        .lock = lock,
        .unlock = unlock,
        .clock_ns = board_time_ns,
    };

    uart_init();
    interrupts_init();
    omap_set_platform(&dma);
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
