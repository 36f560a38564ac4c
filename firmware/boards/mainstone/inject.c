/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU 7.2's model stops after each descriptor, without clearing RUN, and goes on when RUN is set
 * again. It reports no errors. This file adds both: it sets RUN for each descriptor of a chain, and
 * ends a chain before the descriptor with a fault. The registers then have the values of a channel
 * that has stopped in this descriptor; the interrupt of an error is the model's interrupt of a
 * stopped channel. A descriptor counts as a row.
 */
#include "firmware/boards/mainstone/inject.h"

#include "firmware/board.h"
#include "firmware/boards/mainstone/memory_map.h"
#include "libmli/port/pxa27x/pxa27x_engine.h"
#include "libmli/port/pxa27x/pxa27x_registers.h"

static struct {
    enum board_fault fault;
    uint32_t channel, after;
    bool active;   /* the channel has stopped in a descriptor */
    bool error;    /* and its error is not cleared yet */
    bool stuck;    /* and it does not stop */
    uint32_t next; /* word of the descriptor */
} injected;

static uint32_t get(uint32_t offset)
{
    return *(volatile uint32_t *)(DMAC_BASE + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(DMAC_BASE + offset) = value;
}

static uint32_t next_of(uint32_t channel)
{
    return PXA27X_CHANNELS + channel * PXA27X_CHANNEL_BYTES + PXA27X_DDADR;
}

/* Returns whether the next descriptor of the channel has the fault. */
static bool is_next_faulty(uint32_t channel)
{
    return injected.fault != BOARD_FAULT_NONE && injected.channel == channel &&
           injected.after-- == 0;
}

/* The channel stops in its next descriptor. */
static void fail(uint32_t channel, uint32_t status)
{
    injected.active = true;
    injected.error = injected.fault == BOARD_FAULT_ERROR;
    injected.stuck = injected.fault == BOARD_FAULT_STUCK;
    injected.fault = BOARD_FAULT_NONE; /* one fault at a time */
    injected.next = ((const struct pxa27x_item *)(uintptr_t)get(next_of(channel)))->next;
    set(PXA27X_DCSR + 4 * channel, injected.stuck ? 0 : status & ~PXA27X_RUN);
}

/* Executes a chain. */
static void run(uint32_t channel, uint32_t status)
{
    do {
        if (is_next_faulty(channel)) {
            fail(channel, status);
            return;
        }
        set(PXA27X_DCSR + 4 * channel, status);
    } while (get(PXA27X_DCSR + 4 * channel) & PXA27X_RUN);
}

uint32_t inject_read(uint32_t offset)
{
    const uint32_t value = get(offset);

    if (!injected.active)
        return value;
    if (offset == next_of(injected.channel))
        return injected.next;
    if (offset == PXA27X_DCSR + 4 * injected.channel)
        return injected.stuck ? PXA27X_RUN : value | (injected.error ? PXA27X_BUS_ERROR : 0);
    return value;
}

void inject_write(uint32_t offset, uint32_t value)
{
    const uint32_t channel = offset / 4;

    if (channel >= PXA27X_CHANNELS_ALL) {
        set(offset, value);
        return;
    }
    if (injected.active && channel == injected.channel) {
        injected.error &= !(value & PXA27X_BUS_ERROR);
        injected.stuck &= (value & PXA27X_RUN) != 0;
        injected.active &= !(value & PXA27X_RUN); /* DDADR keeps its value until then */
    }
    if (value & PXA27X_RUN)
        run(channel, value);
    else
        set(offset, value);
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = channel;
    injected.after = after;
    injected.active = injected.stuck = false;
    return true;
}
