/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the ZCU102. */
#include "tests/firmware/property/inject.h"

#include "boards/drivers/zdma.h"

const bool board_reports_bus_errors = false;

static struct zdma_platform platform;

static struct {
    enum board_fault fault;
    uint32_t channel, after;
} injected;

/*
 * QEMU's model reports no bus errors of data (docs/boards.md). So this code changes the list of
 * elements, just before the driver writes the register that starts the channel. This function
 * returns element number `number` of the source queue.
 */
static uint32_t *element_at(uint32_t channel, uint32_t number)
{
    uint32_t *element =
        (uint32_t *)(uintptr_t)*word_at(platform.base[channel] + ZDMA_SRC_START_LSB);

    for (; number > 0; number--) {
        if (element[3] & ZDMA_STOP)
            return NULL;
        element = element[3] & ZDMA_LINKED ? (uint32_t *)(uintptr_t)element[4]
                                           : element + ZDMA_LINEAR_WORDS;
    }
    return element;
}

/*
 * Makes the controller itself fail at element `number`. An element of a list gets a misaligned
 * address, which the controller cannot fetch. Linear elements have no addresses: the element
 * before `number` pauses the channel instead.
 */
static void fail_at(uint32_t channel, uint32_t number)
{
    uint32_t *before = number > 0 ? element_at(channel, number - 1) : NULL;

    if (!before)
        *word_at(platform.base[channel] + ZDMA_SRC_START_LSB) |= 4;
    else if (before[3] & ZDMA_LINKED)
        before[4] |= 4;
    else
        before[3] = (before[3] & ~ZDMA_STOP) | ZDMA_PAUSE;
}

/*
 * Executes the elements before `number`, then clears the interrupts, so that the channel looks
 * stuck.
 */
static void get_stuck(uint32_t channel, uint32_t number)
{
    if (number == 0)
        return;
    element_at(channel, number - 1)[3] |= ZDMA_STOP;
    *word_at(platform.base[channel] + ZDMA_CTRL2) = ZDMA_ENABLE;
    *word_at(platform.base[channel] + ZDMA_ISR) = ZDMA_ALL_INTERRUPTS;
}

/* Starts a channel. If the injected fault is for an element of the channel's list, injects it. */
static void start_faulty(uint32_t channel)
{
    const enum board_fault fault = injected.fault;
    uint32_t elements = 0;

    while (elements <= injected.after && element_at(channel, elements))
        elements++;
    if (elements <= injected.after) {
        injected.after -= elements;
    } else {
        injected.fault = BOARD_FAULT_NONE;
        if (fault == BOARD_FAULT_STUCK) {
            get_stuck(channel, injected.after);
            return;
        }
        fail_at(channel, injected.after);
    }
    *word_at(platform.base[channel] + ZDMA_CTRL2) = ZDMA_ENABLE;
}

static void write_register(uint32_t channel, uint32_t offset, uint32_t value)
{
    if (injected.fault != BOARD_FAULT_NONE && channel == injected.channel && offset == ZDMA_CTRL2 &&
        value == ZDMA_ENABLE)
        start_faulty(channel);
    else
        *word_at(platform.base[channel] + offset) = value;
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = channel;
    injected.after = after;
    return true;
}

/* The linker replaces calls of zdma_set_platform() by those of __wrap_zdma_set_platform() (--wrap).
 */
void __real_zdma_set_platform(const struct zdma_platform *given);
void __wrap_zdma_set_platform(const struct zdma_platform *given);

void __wrap_zdma_set_platform(const struct zdma_platform *given)
{
    platform = *given;
    platform.write = write_register;
    __real_zdma_set_platform(&platform);
}
