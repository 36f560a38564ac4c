/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU 7.2's model reports no errors and never stops. A fault is therefore made here: the channel
 * executes a copy of the list that ends before the item of the fault, and the registers then read
 * as those of a channel that has stopped in this item. The interrupt of an error is real, but that
 * of the end of the copy. An item counts as a row: rows must be multiples of words, at aligned
 * addresses.
 */
#include "firmware/boards/versatilepb/inject.h"

#include "firmware/board.h"
#include "firmware/boards/versatilepb/memory_map.h"
#include "libmli/port/pl080/pl080_engine.h"
#include "libmli/port/pl080/pl080_registers.h"

enum { WORDS = 2u << 18 | 2u << 21 };

static struct {
    enum board_fault fault;
    uint32_t channel, after;
    bool active; /* the channel has stopped in `item` */
    bool error;  /* and its error is not cleared yet */
    bool stuck;  /* and it is still enabled */
    struct pl080_item item;
    uint32_t configuration; /* of the channel that is stuck */
} injected;

static struct pl080_item copies[PL080_ITEMS_MAX + 1];

static uint32_t get(uint32_t offset)
{
    return *(volatile uint32_t *)(DMAC_BASE + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(DMAC_BASE + offset) = value;
}

static uint32_t own(enum pl080_channel_register offset)
{
    return PL080_CHANNELS + injected.channel * PL080_CHANNEL_BYTES + offset;
}

static struct pl080_item read_item(void)
{
    return (struct pl080_item){get(own(PL080_C_SRC)), get(own(PL080_C_DST)), get(own(PL080_C_LLI)),
                               get(own(PL080_C_CONTROL))};
}

static void write_item(const struct pl080_item *item)
{
    set(own(PL080_C_SRC), item->src);
    set(own(PL080_C_DST), item->dst);
    set(own(PL080_C_LLI), item->next);
    set(own(PL080_C_CONTROL), item->control);
}

/* Ends the copy with an item that moves a word of its own, with an interrupt for an error. */
static void end_copy(uint32_t count, bool interrupt)
{
    static uint32_t words[2];

    copies[count] = (struct pl080_item){
        .src = (uint32_t)(uintptr_t)&words[0],
        .dst = (uint32_t)(uintptr_t)&words[1],
        .control = 1u | WORDS | (interrupt ? PL080_TC_INTERRUPT : 0),
    };
    for (uint32_t i = 0; i < count; i++) {
        copies[i].next = (uint32_t)(uintptr_t)&copies[i + 1];
        copies[i].control &= ~PL080_TC_INTERRUPT;
    }
}

/* Puts the fault into the list in the registers, unless the list ends before it. */
static void inject_list(uint32_t configuration)
{
    struct pl080_item item = read_item();
    uint32_t count = 0;

    for (; injected.after > 0; injected.after--) {
        copies[count++] = item;
        if (item.next == 0) {
            injected.after--;
            return;
        }
        item = *(const struct pl080_item *)(uintptr_t)item.next;
    }
    injected.active = true;
    injected.error = injected.fault == BOARD_FAULT_ERROR;
    injected.stuck = injected.fault == BOARD_FAULT_STUCK;
    injected.fault = BOARD_FAULT_NONE; /* one fault at a time */
    injected.item = item;
    injected.configuration = configuration;
    end_copy(count, injected.error);
    write_item(&copies[0]);
}

/* Returns a register with a bit for each channel, with that of the fault set or cleared. */
static uint32_t with_bit(uint32_t value, bool bit)
{
    const uint32_t mask = 1u << injected.channel;

    return bit ? value | mask : value & ~mask;
}

uint32_t inject_read(uint32_t offset)
{
    if (!injected.active)
        return get(offset);
    switch (offset) {
    case PL080_RAW_TC_STATUS:
    case PL080_INT_TC_STATUS:
        return with_bit(get(offset), false);
    case PL080_RAW_ERROR_STATUS:
        return with_bit(get(offset), injected.error);
    case PL080_INT_ERROR_STATUS:
        return with_bit(get(offset),
                        injected.error && injected.configuration & PL080_C_ERROR_INTERRUPT);
    case PL080_ENABLED_CHANNELS:
        return with_bit(get(offset), injected.stuck);
    default:
        break;
    }
    if (offset == own(PL080_C_LLI))
        return injected.item.next;
    if (offset == own(PL080_C_CONFIGURATION) && injected.stuck)
        return injected.configuration | PL080_C_ACTIVE;
    return get(offset);
}

void inject_write(uint32_t offset, uint32_t value)
{
    const bool configures = offset == own(PL080_C_CONFIGURATION);

    if (injected.active && offset == PL080_INT_ERROR_CLEAR && value >> injected.channel & 1) {
        injected.error = false;
        set(PL080_INT_TC_CLEAR, 1u << injected.channel);
    }
    if (injected.active && configures && value & PL080_C_HALT) {
        injected.configuration = value;
        return;
    }
    if (configures) {
        injected.stuck = false;
        injected.active &= !(value & PL080_C_ENABLE); /* a channel keeps its registers until then */
        if (injected.fault != BOARD_FAULT_NONE && value & PL080_C_ENABLE)
            inject_list(value);
    }
    set(offset, value);
    /* QEMU's model updates its interrupt only in writes to the registers of all channels. */
    if (offset >= PL080_CHANNELS && offset < PL080_PERIPH_ID)
        set(PL080_INT_TC_CLEAR, 0);
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = channel;
    injected.after = after;
    injected.active = injected.stuck = false;
    return true;
}
