/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards with Zynq-7000, and QEMU's model of one, xilinx-zynq-a9. */
#include "boards/firmware/board.h"

#include "boards/drivers/pl330.h"

/*
 * Addresses and interrupt numbers of Zynq-7000 (UG585, "System Addresses", "Interrupts" and the
 * chapters of the devices), as QEMU's xilinx-zynq-a9 has them.
 */

#define UART0_BASE        0xE0000000u
#define DMAC_BASE         0xF8003000u /* address of the controller's secure registers */
#define GIC_CPU_BASE      0xF8F00100u
#define GLOBAL_TIMER_BASE 0xF8F00200u
#define GIC_BASE          0xF8F01000u /* the distributor */

/* Nanoseconds of a count: half of the processor's clock of 667 MHz; in QEMU 100 MHz. */
enum { GLOBAL_TIMER_NS = 3, GLOBAL_TIMER_MODEL_NS = 10 };

/* Interrupts of the DMA controller: aborts, and events 0 to 3 and 4 to 7. */
enum { IRQ_DMAC_ABORT = 45, IRQ_DMAC_0 = 46, IRQ_DMAC_3 = 49, IRQ_DMAC_4 = 72, IRQ_DMAC_7 = 75 };

enum { DMAC_FIFO_LINES = 128 }; /* lines of 64 bits in the FIFO of Zynq-7000 */

const char board_name[] = "zynq";
const struct mli_engine *const board_engine = &pl330_engine;

/* Console: UART0 (UG585, "UART Controller"). The boot loader has set its clock and baud rate. */

enum { UART_CR = 0x00, UART_MR = 0x04, UART_SR = 0x2C, UART_FIFO = 0x30 };

#define UART_CR_ENABLE_RESET 0x17u /* receiver and transmitter: enable, reset */
#define UART_MR_8N1          0x20u
#define UART_SR_RX_EMPTY     (1u << 1)
#define UART_SR_TX_FULL      (1u << 4)

void console_put(uint8_t byte)
{
    while (*word_at(UART0_BASE + UART_SR) & UART_SR_TX_FULL)
        ;
    *word_at(UART0_BASE + UART_FIFO) = byte;
}

int console_get(void)
{
    if (*word_at(UART0_BASE + UART_SR) & UART_SR_RX_EMPTY)
        return -1;
    return (uint8_t)*word_at(UART0_BASE + UART_FIFO);
}

/* Time: the global timer (Cortex-A9 MPCore TRM, DDI 0407) */

enum { TIMER_LOW = 0x00, TIMER_HIGH = 0x04, TIMER_CONTROL = 0x08 };

static uint32_t timer_ns = GLOBAL_TIMER_NS;

uint64_t board_time_ns(void)
{
    uint32_t high, low;

    do {
        high = *word_at(GLOBAL_TIMER_BASE + TIMER_HIGH);
        low = *word_at(GLOBAL_TIMER_BASE + TIMER_LOW);
    } while (high != *word_at(GLOBAL_TIMER_BASE + TIMER_HIGH));
    return ((uint64_t)high << 32 | low) * timer_ns;
}

/* Interrupts */

static const struct gic gic = {.distributor = GIC_BASE, .processor = GIC_CPU_BASE};

static void init_interrupts(void)
{
    gic_init(&gic);
    for (uint32_t irq = IRQ_DMAC_ABORT; irq <= IRQ_DMAC_3; irq++)
        gic_enable(&gic, irq);
    for (uint32_t irq = IRQ_DMAC_4; irq <= IRQ_DMAC_7; irq++)
        gic_enable(&gic, irq);
}

static void serve(uint32_t irq)
{
    if ((irq < IRQ_DMAC_ABORT || irq > IRQ_DMAC_3) && (irq < IRQ_DMAC_4 || irq > IRQ_DMAC_7))
        return;
    board_dma_interrupts++;
    pl330_interrupt();
}

/* start.S calls this function for each interrupt. */
void board_interrupt(void);

void board_interrupt(void)
{
    gic_serve(&gic, serve);
}

/* DMA */

static uintptr_t lock(void)
{
    return board_interrupts(false);
}

static void unlock(uintptr_t before)
{
    if (before)
        (void)board_interrupts(true);
}

/* Returns whether this is QEMU's model: its FIFO is larger than that of Zynq-7000 (UG585). */
static bool is_model(void)
{
    return (*word_at(DMAC_BASE + PL330_CRD) >> 20 & 0x3FF) + 1 != DMAC_FIFO_LINES;
}

void board_init(void)
{
    const struct pl330_platform platform = {
        .base = DMAC_BASE,
        .lock = lock,
        .unlock = unlock,
        .clock_ns = board_time_ns,
        .zero_barriers = is_model(),
    };

    *word_at(UART0_BASE + UART_CR) = UART_CR_ENABLE_RESET;
    *word_at(UART0_BASE + UART_MR) = UART_MR_8N1;
    if (is_model())
        timer_ns = GLOBAL_TIMER_MODEL_NS;
    *word_at(GLOBAL_TIMER_BASE + TIMER_CONTROL) = 1;
    init_interrupts();
    pl330_set_platform(&platform);
}
