/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the HiFive Unleashed. */
#include "tests/firmware/property/inject.h"

#include "boards/drivers/pdma.h"

const bool board_reports_bus_errors = true;

static struct pdma_platform platform;

/*
 * QEMU's model reports no bus errors (docs/boards.md), so this code injects faults between the
 * engine and the registers.
 */
static struct {
    enum board_fault fault;
    uint32_t channel, after;
} injected;

/*
 * Makes the controller itself fail: it refuses transactions of different sizes for reads and
 * writes, sets ERROR, and raises its error interrupt. A channel that is never started is stuck.
 */
static uint32_t start_faulty(uint32_t channel, uint32_t control)
{
    if (channel != injected.channel || !(control & PDMA_RUN) || injected.after-- > 0)
        return control;
    if (injected.fault == BOARD_FAULT_STUCK)
        control &= ~PDMA_RUN;
    else
        *word_at(platform.base + (uintptr_t)channel * PDMA_CHANNEL_BYTES + PDMA_NEXT_CONFIG) =
            6u << 28;
    injected.fault = BOARD_FAULT_NONE;
    return control;
}

static void write_register(uint32_t channel, uint32_t offset, uint64_t value)
{
    const uintptr_t at = platform.base + (uintptr_t)channel * PDMA_CHANNEL_BYTES + offset;

    if (offset == PDMA_CONTROL && injected.fault != BOARD_FAULT_NONE)
        value = start_faulty(channel, (uint32_t)value);
    if (offset == PDMA_CONTROL || offset == PDMA_NEXT_CONFIG)
        *word_at(at) = (uint32_t)value;
    else
        *(volatile uint64_t *)at = value;
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = channel;
    injected.after = after;
    return true;
}

/* The linker replaces calls of pdma_set_platform() by those of __wrap_pdma_set_platform() (--wrap).
 */
void __real_pdma_set_platform(const struct pdma_platform *given);
void __wrap_pdma_set_platform(const struct pdma_platform *given);

void __wrap_pdma_set_platform(const struct pdma_platform *given)
{
    platform = *given;
    platform.write = write_register;
    __real_pdma_set_platform(&platform);
}
