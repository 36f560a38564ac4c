/* SPDX-License-Identifier: BSD-3-Clause */
/* HiFive Unleashed (FU540-C000), and QEMU's model of it, sifive_u. */
#include "boards/firmware/board.h"

#include <stdatomic.h>

#include "boards/drivers/pdma.h"

/*
 * Addresses and interrupt numbers of FU540-C000 (Freedom U540-C000 Manual, "Memory Map" and
 * "Interrupt Sources"), as QEMU's sifive_u has them.
 */

#define CLINT_MSIP  0x02000000u /* a word for each processor: 1 requests a software interrupt */
#define CLINT_MTIME 0x0200BFF8u /* a counter of 64 bits at 1 MHz */
#define PDMA_BASE   0x03000000u
#define PLIC_BASE   0x0C000000u
#define UART0_BASE  0x10010000u

/* Two interrupts of each channel of the PDMA: done, then error. */
enum { IRQ_PDMA_FIRST = 23, IRQ_PDMA_LAST = 30 };

const char board_name[] = "sifive_u";
const struct mli_engine *const board_engine = &pdma_engine;

/* From the linker script. */
extern uint8_t ram_begin[], tensors_end[];

/* Console: UART0 (FU540-C000 Manual, "Universal Asynchronous Receiver/Transmitter") */

enum { TXDATA = 0x00, RXDATA = 0x04, TXCTRL = 0x08, RXCTRL = 0x0C };

#define UART_FULL   (1u << 31) /* of TXDATA */
#define UART_EMPTY  (1u << 31) /* of RXDATA */
#define UART_ENABLE 1u

void console_put(uint8_t byte)
{
    while (*word_at(UART0_BASE + TXDATA) & UART_FULL)
        ;
    *word_at(UART0_BASE + TXDATA) = byte;
}

int console_get(void)
{
    const uint32_t data = *word_at(UART0_BASE + RXDATA);

    return data & UART_EMPTY ? -1 : (uint8_t)data;
}

/* Time */

uint64_t board_time_ns(void)
{
    return *(volatile uint64_t *)(uintptr_t)CLINT_MTIME * 1000;
}

/* Interrupts: the PLIC (RISC-V PLIC Specification). Context 1 is the machine mode of hart 1. */

enum {
    PLIC_CONTEXT = BOARD_HART,
    PLIC_ENABLES = 0x2000 + PLIC_CONTEXT * 0x80,
    PLIC_THRESHOLD = 0x200000 + PLIC_CONTEXT * 0x1000,
    PLIC_CLAIM = PLIC_THRESHOLD + 4,
};

#define MCAUSE_SOFTWARE (UINT64_C(1) << 63 | 3)
#define MCAUSE_EXTERNAL (UINT64_C(1) << 63 | 11)

static _Atomic uint32_t pended; /* bit n: channel n is polled in the next software interrupt */

/*
 * Priority 0 disables an interrupt. Each interrupt has its own register, so this changes no other.
 */
static void enable_interrupts(uint32_t channel, bool enable)
{
    const uint32_t done = IRQ_PDMA_FIRST + 2 * channel;

    *word_at(PLIC_BASE + 4 * done) = enable;
    *word_at(PLIC_BASE + 4 * (done + 1)) = enable;
}

static void plic_init(void)
{
    uint32_t enables = 0;

    for (uint32_t irq = IRQ_PDMA_FIRST; irq <= IRQ_PDMA_LAST; irq++) {
        *word_at(PLIC_BASE + 4 * irq) = 0;
        enables |= 1u << irq;
    }
    *word_at(PLIC_BASE + PLIC_ENABLES) = enables;
    *word_at(PLIC_BASE + PLIC_ENABLES + 4) = 0;
    *word_at(PLIC_BASE + PLIC_THRESHOLD) = 0;
}

/* Requests a software interrupt of this processor. */
static void pend(uint32_t channel)
{
    atomic_fetch_or_explicit(&pended, UINT32_C(1) << channel, memory_order_relaxed);
    *word_at(CLINT_MSIP + 4 * BOARD_HART) = 1;
}

static void handle_software(void)
{
    uint32_t channels;

    *word_at(CLINT_MSIP + 4 * BOARD_HART) = 0;
    channels = atomic_exchange_explicit(&pended, 0, memory_order_relaxed);
    for (uint32_t i = 0; channels >> i; i++) {
        if (channels >> i & 1)
            mli_mov_interrupt(i);
    }
}

static void handle_external(void)
{
    uint32_t irq;

    while ((irq = *word_at(PLIC_BASE + PLIC_CLAIM)) != 0) {
        if (irq >= IRQ_PDMA_FIRST && irq <= IRQ_PDMA_LAST) {
            board_dma_interrupts++;
            pdma_interrupt((irq - IRQ_PDMA_FIRST) / 2);
        }
        *word_at(PLIC_BASE + PLIC_CLAIM) = irq; /* complete */
    }
}

/* start.S calls this function for each interrupt and exception. */
void board_trap(uint64_t cause, uint64_t at, uint64_t address);

void board_trap(uint64_t cause, uint64_t at, uint64_t address)
{
    if (cause == MCAUSE_EXTERNAL)
        handle_external();
    else if (cause == MCAUSE_SOFTWARE)
        handle_software();
    else
        firmware_crash("exception", cause, at, address);
}

/* DMA */

/* QEMU's model would read zeros beyond the memory, and lose writes. */
static bool has_memory(uint64_t address, size_t bytes)
{
    const uint64_t begin = (uintptr_t)ram_begin, end = (uintptr_t)tensors_end;

    return address >= begin && address <= end && bytes <= end - address;
}

void board_init(void)
{
    static const struct pdma_platform platform = {
        .base = PDMA_BASE,
        .channels = PDMA_CHANNELS,
        .enable_interrupts = enable_interrupts,
        .has_memory = has_memory,
        .clock_ns = board_time_ns,
    };

    static const struct mli_platform shared = {.size = sizeof(shared), .pend = pend};

    *word_at(UART0_BASE + TXCTRL) = UART_ENABLE;
    *word_at(UART0_BASE + RXCTRL) = UART_ENABLE;
    plic_init();
    pdma_set_platform(&platform);
    (void)mli_mov_set_platform(
        &shared); /* the controller's accesses are coherent with the caches */
}
