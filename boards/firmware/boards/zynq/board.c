/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards with Zynq-7000, and QEMU's model of one, xilinx-zynq-a9. */
#include "boards/firmware/board.h"

#include "boards/drivers/pl330.h"
#include "boards/firmware/boards/zynq/memory_map.h"
#include "boards/firmware/lib/firmware.h"

const char board_name[] = "zynq";
const struct mli_engine *const board_engine = &pl330_engine;

/* From the linker script. */
extern uint8_t tensors_begin[], tensors_end[];

static volatile uint32_t *word_at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/* Console: UART0 (UG585, "UART Controller"). The boot loader has set its clock and baud rate. */

enum { UART_CR = 0x00, UART_MR = 0x04, UART_SR = 0x2C, UART_FIFO = 0x30 };

#define UART_CR_ENABLE_RESET 0x17u /* receiver and transmitter: enable, reset */
#define UART_MR_8N1          0x20u
#define UART_SR_RX_EMPTY     (1u << 1)
#define UART_SR_TX_FULL      (1u << 4)

void board_write(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < count; i++) {
        while (*word_at(UART0_BASE + UART_SR) & UART_SR_TX_FULL)
            ;
        *word_at(UART0_BASE + UART_FIFO) = from[i];
    }
}

size_t board_read(void *to, size_t room)
{
    uint8_t *bytes = to;
    size_t count = 0;

    while (count < room && !(*word_at(UART0_BASE + UART_SR) & UART_SR_RX_EMPTY))
        bytes[count++] = (uint8_t)*word_at(UART0_BASE + UART_FIFO);
    return count;
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

/* Interrupts: the GIC (Generic Interrupt Controller Architecture Specification, IHI 0048) */

enum {
    GICD_CTLR = 0x000,
    GICD_ISENABLER = 0x100,
    GICD_IPRIORITYR = 0x400,
    GICD_ITARGETSR = 0x800,
    GICC_CTLR = 0x00,
    GICC_PMR = 0x04,
    GICC_IAR = 0x0C,
    GICC_EOIR = 0x10,
    SPURIOUS = 1020, /* and above */
};

static uint32_t dma_interrupts;

uint32_t board_dma_interrupts(void)
{
    return dma_interrupts;
}

/* Enables a level-sensitive interrupt, for the first processor. */
static void gic_enable(uint32_t irq)
{
    *(volatile uint8_t *)(GIC_BASE + GICD_IPRIORITYR + irq) = 0x80;
    *(volatile uint8_t *)(GIC_BASE + GICD_ITARGETSR + irq) = 1;
    *word_at(GIC_BASE + GICD_ISENABLER + irq / 32 * 4) = 1u << irq % 32;
}

static void gic_init(void)
{
    *word_at(GIC_BASE + GICD_CTLR) = 1;
    for (uint32_t irq = IRQ_DMAC_ABORT; irq <= IRQ_DMAC_3; irq++)
        gic_enable(irq);
    for (uint32_t irq = IRQ_DMAC_4; irq <= IRQ_DMAC_7; irq++)
        gic_enable(irq);
    *word_at(GIC_CPU_BASE + GICC_PMR) = 0xFF;
    *word_at(GIC_CPU_BASE + GICC_CTLR) = 1;
}

static bool is_dma(uint32_t irq)
{
    return (irq >= IRQ_DMAC_ABORT && irq <= IRQ_DMAC_3) || (irq >= IRQ_DMAC_4 && irq <= IRQ_DMAC_7);
}

/* start.S calls these functions. */
void board_interrupt(void);
void board_crash(uint32_t cause, uint32_t at, uint32_t address);

void board_interrupt(void)
{
    const uint32_t claimed = *word_at(GIC_CPU_BASE + GICC_IAR), irq = claimed & 0x3FF;

    if (irq >= SPURIOUS)
        return;
    if (is_dma(irq)) {
        dma_interrupts++;
        pl330_interrupt();
    }
    *word_at(GIC_CPU_BASE + GICC_EOIR) = claimed;
}

/* `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
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

/* QEMU's model reports no bus errors (docs/boards.md), so a fault is an instruction of a program.
 */
bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    pl330_inject(channel,
                 fault == BOARD_FAULT_ERROR   ? PL330_INJECT_TRAP
                 : fault == BOARD_FAULT_STUCK ? PL330_INJECT_WAIT
                                              : PL330_INJECT_NONE,
                 after);
    return true;
}

uint8_t *board_memory_end(void)
{
    return NULL;
}

struct board_memory board_memory(void)
{
    return (struct board_memory){tensors_begin, (size_t)(tensors_end - tensors_begin)};
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
    gic_init();
    pl330_set_platform(&platform);
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
