/* SPDX-License-Identifier: BSD-3-Clause */
/* What all boards share: the start and the end of a program, console, interrupt controller. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/firmware/board.h"

enum { ARGUMENTS_MAX = 32, TEXT_MAX = 512, CRASHED = 70 };

/* From the linker script. */
extern char bss_begin[], bss_end[];
extern uint8_t tensors_begin[], tensors_end[];

int main(int argc, char **argv);

/* Splits the text at spaces. Returns the number of words. */
static int split(char *text, char **words, int most)
{
    int count = 0;

    while (*text && count < most) {
        while (*text == ' ')
            *text++ = '\0';
        if (*text)
            words[count++] = text;
        while (*text && *text != ' ')
            text++;
    }
    return count;
}

void firmware_start(void)
{
    static char text[TEXT_MAX], *words[ARGUMENTS_MAX + 1];
    int count;

    memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
    board_init();
    if (!semihosting_arguments(text, sizeof(text)))
        text[0] = '\0';
    count = split(text, words, ARGUMENTS_MAX);
    board_exit(main(count, words));
}

void firmware_crash(const char *what, uint64_t cause, uint64_t at, uint64_t address)
{
    (void)board_interrupts(false);
    printf("\ncrash: %s, cause 0x%" PRIx64 ", instruction at 0x%" PRIx64 ", address 0x%" PRIx64
           "\n",
           what, cause, at, address);
    board_exit(CRASHED);
}

/* Replaces the C library's function, which needs an operating system. */
void exit(int status)
{
    board_exit(status);
}

/* Replaces the C library's function, which raises a signal. */
void abort(void)
{
    (void)board_interrupts(false);
    printf("\naborted\n");
    board_exit(CRASHED);
}

void board_exit(int status)
{
    semihosting_exit(status);
    (void)board_interrupts(false);
    for (;;)
        board_idle();
}

struct board_memory board_memory(void)
{
    return (struct board_memory){tensors_begin, (size_t)(tensors_end - tensors_begin)};
}

void board_write(const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    for (size_t i = 0; i < count; i++)
        console_put(from[i]);
}

size_t board_read(void *to, size_t room)
{
    uint8_t *bytes = to;
    size_t count = 0;

    for (int byte; count < room && (byte = console_get()) >= 0;)
        bytes[count++] = (uint8_t)byte;
    return count;
}

volatile uint32_t board_dma_interrupts;

/* Exceptions of armv7a/start.S; `cause` is the number of the exception vector. */
void board_crash(uint32_t cause, uint32_t at, uint32_t address);

void board_crash(uint32_t cause, uint32_t at, uint32_t address)
{
    firmware_crash("exception", cause, at, address);
}

/* The interrupt controller of Arm */

enum {
    GICD_CTLR = 0x000,
    GICD_ISENABLER = 0x100,
    GICD_IPRIORITYR = 0x400,
    GICD_ITARGETSR = 0x800,
    GICC_CTLR = 0x00,
    GICC_PMR = 0x04,
    GICC_IAR = 0x0C,
    GICC_EOIR = 0x10,
    GIC_ENABLE = 1,
    GIC_PRIORITY = 0x80, /* priority of the interrupts; GICC_PMR admits priorities below 0xF0 */
    GIC_SPURIOUS = 1020, /* numbers from here on name no interrupt */
};

void gic_init(const struct gic *gic)
{
    *word_at(gic->processor + GICC_PMR) = 0xF0;
    *word_at(gic->processor + GICC_CTLR) = GIC_ENABLE;
    *word_at(gic->distributor + GICD_CTLR) = GIC_ENABLE;
}

void gic_enable(const struct gic *gic, uint32_t irq)
{
    *(volatile uint8_t *)(gic->distributor + GICD_IPRIORITYR + irq) = GIC_PRIORITY;
    *(volatile uint8_t *)(gic->distributor + GICD_ITARGETSR + irq) = 1; /* processor 0 */
    *word_at(gic->distributor + GICD_ISENABLER + irq / 32 * 4) = 1u << irq % 32;
}

void gic_serve(const struct gic *gic, void (*serve)(uint32_t irq))
{
    uint32_t given;

    while (given = *word_at(gic->processor + GICC_IAR), (given & 0x3FF) < GIC_SPURIOUS) {
        serve(given & 0x3FF);
        *word_at(gic->processor + GICC_EOIR) = given;
    }
}
