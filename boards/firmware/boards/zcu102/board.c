/* SPDX-License-Identifier: BSD-3-Clause */
/* AMD ZCU102 (Zynq UltraScale+ MPSoC), and QEMU's model of it, xlnx-zcu102. */
#include "boards/firmware/board.h"

#include "boards/drivers/zdma.h"

/*
 * Addresses and interrupt numbers of the Zynq UltraScale+ (UG1085: chapter 10, system addresses;
 * chapter 13, system interrupts; UG1087), as QEMU's xlnx-zcu102 has them.
 */

#define GICD_BASE     0xF9010000u
#define GICC_BASE     0xF9020000u
#define UART0_BASE    0xFF000000u
#define GDMA_BASE     0xFD500000u /* FPD DMA, eight channels */
#define ADMA_BASE     0xFFA80000u /* LPD DMA, eight channels */
#define CHANNEL_BYTES 0x10000u

enum {
    DMA_CHANNELS = 8, /* number of channels of each controller */
    IRQ_ADMA_FIRST = 109,
    IRQ_GDMA_FIRST = 156,
};

const char board_name[] = "zcu102";
const struct mli_engine *const board_engine = &zdma_engine;

/* Console: UART 0 (Cadence), as UG1087 describes the module UART */

enum {
    UART_CONTROL = 0x00,
    UART_MODE = 0x04,
    UART_STATUS = 0x2c,
    UART_FIFO = 0x30,
    UART_RESET_ENABLE = 0x17, /* value of UART_CONTROL: reset both FIFOs, enable both directions */
    UART_8N1 = 0x20,
    UART_RX_EMPTY = 1 << 1,
    UART_TX_FULL = 1 << 4,
};

void console_put(uint8_t byte)
{
    while (*word_at(UART0_BASE + UART_STATUS) & UART_TX_FULL)
        ;
    *word_at(UART0_BASE + UART_FIFO) = byte;
}

int console_get(void)
{
    if (*word_at(UART0_BASE + UART_STATUS) & UART_RX_EMPTY)
        return -1;
    return (uint8_t)*word_at(UART0_BASE + UART_FIFO);
}

/* Time: the generic timer of the processor */

uint64_t board_time_ns(void)
{
    uint64_t ticks, hertz;

    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return ticks / hertz * 1000000000 + ticks % hertz * 1000000000 / hertz;
}

/* Interrupts: the GIC-400 of the APU */

static const struct gic gic = {.distributor = GICD_BASE, .processor = GICC_BASE};

static void init_interrupts(void)
{
    gic_init(&gic);
    for (uint32_t i = 0; i < DMA_CHANNELS; i++) {
        gic_enable(&gic, IRQ_GDMA_FIRST + i);
        gic_enable(&gic, IRQ_ADMA_FIRST + i);
    }
}

bool board_interrupts(bool enable)
{
    uint64_t masks;

    __asm__ volatile("mrs %0, daif" : "=r"(masks));
    if (enable)
        __asm__ volatile("msr daifclr, #2" ::: "memory");
    else
        __asm__ volatile("msr daifset, #2" ::: "memory");
    return !(masks & 1u << 7);
}

void board_idle(void)
{
    __asm__ volatile("dsb sy; wfi" ::: "memory");
}

/* start.S calls these functions for each interrupt and for an unexpected exception. */
void board_interrupt(void);
_Noreturn void board_exception(uint64_t syndrome, uint64_t at, uint64_t address);

static void serve(uint32_t irq)
{
    const bool is_gdma = irq - IRQ_GDMA_FIRST < DMA_CHANNELS;

    if (!is_gdma && irq - IRQ_ADMA_FIRST >= DMA_CHANNELS)
        return;
    board_dma_interrupts++;
    zdma_interrupt(is_gdma ? irq - IRQ_GDMA_FIRST : irq - IRQ_ADMA_FIRST + DMA_CHANNELS);
}

void board_interrupt(void)
{
    gic_serve(&gic, serve);
}

void board_exception(uint64_t syndrome, uint64_t at, uint64_t address)
{
    firmware_crash("exception", syndrome, at, address);
}

/* DMA: channels 0 to 7 belong to GDMA, channels 8 to 15 to ADMA. */

static uintptr_t channel_base(uint32_t channel)
{
    return channel < DMA_CHANNELS
               ? (uintptr_t)GDMA_BASE + channel * (uintptr_t)CHANNEL_BYTES
               : (uintptr_t)ADMA_BASE + (channel - DMA_CHANNELS) * (uintptr_t)CHANNEL_BYTES;
}

/* Caches: accesses of the GDMA bypass them. Cleans and invalidates cache lines by address, to the
 * point of coherency */

static size_t line_bytes(void)
{
    uint64_t type;

    __asm__("mrs %0, ctr_el0" : "=r"(type));
    return (size_t)4 << (type >> 16 & 15);
}

/* An instruction for each line of [address, address + bytes), then a barrier. */
#define EACH_LINE(instruction, address, bytes)                                                     \
    do {                                                                                           \
        const size_t line_ = line_bytes();                                                         \
        const uintptr_t end_ = (uintptr_t)(address) + (bytes);                                     \
                                                                                                   \
        for (uintptr_t at_ = (uintptr_t)(address) & ~(line_ - 1); at_ < end_; at_ += line_)        \
            __asm__ volatile(instruction ", %0" : : "r"(at_) : "memory");                          \
        __asm__ volatile("dsb sy" ::: "memory");                                                   \
    } while (0)

static void clean(const void *address, size_t bytes)
{
    EACH_LINE("dc cvac", address, bytes);
}

static void clean_invalidate(const void *address, size_t bytes)
{
    EACH_LINE("dc civac", address, bytes);
}

static void invalidate(const void *address, size_t bytes)
{
    EACH_LINE("dc ivac", address, bytes);
}

void board_init(void)
{
    static struct zdma_platform platform = {
        .channels = 2 * DMA_CHANNELS,
        .interrupts = true,
        .clock_ns = board_time_ns,
    };

    const struct mli_platform caches = {
        .size = sizeof(caches),
        .clean = clean,
        .clean_invalidate = clean_invalidate,
        .invalidate = invalidate,
    };

    for (uint32_t channel = 0; channel < platform.channels; channel++)
        platform.base[channel] = channel_base(channel);
    *word_at(UART0_BASE + UART_CONTROL) = UART_RESET_ENABLE;
    *word_at(UART0_BASE + UART_MODE) = UART_8N1;
    init_interrupts();
    (void)mli_mov_set_platform(&caches);
    zdma_set_platform(&platform);
}
