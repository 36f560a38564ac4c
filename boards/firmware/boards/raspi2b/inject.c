/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU 7.2's model reports no errors and never stops. A fault is therefore made here: the channel
 * executes a copy of the chain that ends before the row of the fault, and the registers then read
 * as those of a channel that has stopped in this row. The interrupt of an error is real.
 */
#include "boards/firmware/boards/raspi2b/inject.h"

#include <stddef.h>

#include "boards/drivers/bcm2835.h"
#include "boards/firmware/board.h"
#include "boards/firmware/boards/raspi2b/memory_map.h"

enum { READ_ERROR = 4, COPIES = BCM2835_BLOCKS_MAX + 1 };

/* The fault. `channel` is that of the controller. */
static struct {
    enum board_fault fault;
    uint32_t channel, after;
    bool active; /* the channel has stopped in `block`, after `rows` of its rows */
    bool paused;
    uint32_t address; /* of the block on the bus */
    struct bcm2835_block block;
    uint32_t rows;
} injected;

static _Alignas(32) struct bcm2835_block copies[COPIES];

static uint32_t get(uint32_t offset)
{
    return *(volatile uint32_t *)(DMA_BASE + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(DMA_BASE + offset) = value;
}

static uint32_t bus_of(const void *memory)
{
    return (uint32_t)mli_bus_address(memory);
}

static const struct bcm2835_block *block_at(uint32_t bus)
{
    return (const struct bcm2835_block *)(uintptr_t)(bus & BUS_MASK);
}

static uint32_t rows_of(const struct bcm2835_block *block)
{
    return block->ti & BCM2835_TI_TDMODE ? (block->txfr_len >> 16) + 1 : 1;
}

/* Ends the copy with a block that moves a word of its own, with an interrupt for an error. */
static void end_copy(uint32_t count)
{
    static uint32_t word[2];

    copies[count] = (struct bcm2835_block){
        .ti = injected.fault == BOARD_FAULT_ERROR ? BCM2835_TI_INTEN : 0,
        .source_ad = bus_of(&word[0]),
        .dest_ad = bus_of(&word[1]),
        .txfr_len = sizeof(word[0]),
    };
    for (uint32_t i = 0; i < count; i++) {
        copies[i].nextconbk = bus_of(&copies[i + 1]);
        copies[i].ti &= ~BCM2835_TI_INTEN;
    }
}

/* Copies the chain up to the row of the fault. Returns false if the chain ends before this row. */
static bool copy_chain(uint32_t address)
{
    uint32_t count = 0;

    for (; address != 0; address = copies[count++].nextconbk) {
        const uint32_t rows = rows_of(block_at(address));

        copies[count] = *block_at(address);
        if (injected.after >= rows) {
            injected.after -= rows;
            continue;
        }
        injected.active = true;
        injected.paused = false;
        injected.address = address;
        injected.block = copies[count];
        injected.rows = injected.after;
        if (injected.rows > 0) {
            copies[count].txfr_len = (injected.rows - 1) << 16 | (copies[count].txfr_len & 0xffff);
            count++;
        }
        end_copy(count);
        return true;
    }
    return false;
}

/* Returns CS of the channel that has stopped. */
static uint32_t stopped_cs(uint32_t cs)
{
    if (cs & BCM2835_CS_ACTIVE)
        return cs; /* the copy is still running */
    cs &= ~BCM2835_CS_END;
    if (injected.fault == BOARD_FAULT_ERROR)
        return cs | BCM2835_CS_ERROR;
    return cs | (injected.paused ? BCM2835_CS_PAUSED : BCM2835_CS_ACTIVE);
}

static bool is_stopped(uint32_t offset)
{
    return injected.active && offset / BCM2835_CHANNEL_BYTES == injected.channel;
}

uint32_t inject_read(uint32_t offset)
{
    const struct bcm2835_block *block = &injected.block;
    const uint32_t value = get(offset), x = block->txfr_len & 0xffff;

    if (!is_stopped(offset))
        return value;
    switch (offset % BCM2835_CHANNEL_BYTES) {
    case BCM2835_CS:
        return stopped_cs(value);
    case BCM2835_CONBLK_AD:
        return injected.address;
    case BCM2835_DEST_AD:
        return block->dest_ad + injected.rows * (x + (uint32_t)((int32_t)block->stride >> 16));
    case BCM2835_TXFR_LEN:
        return block->txfr_len - (injected.rows << 16);
    case BCM2835_DEBUG:
        return value | (injected.fault == BOARD_FAULT_ERROR ? READ_ERROR : 0);
    default:
        return value;
    }
}

void inject_write(uint32_t offset, uint32_t value)
{
    const uint32_t channel = offset / BCM2835_CHANNEL_BYTES;
    const bool cs = offset % BCM2835_CHANNEL_BYTES == BCM2835_CS;

    if (is_stopped(offset) && cs && value & BCM2835_CS_RESET)
        injected.active = false;
    if (is_stopped(offset) && cs)
        injected.paused = true;
    if (injected.fault != BOARD_FAULT_NONE && !injected.active && channel == injected.channel &&
        cs && value & BCM2835_CS_ACTIVE && copy_chain(get(offset + BCM2835_CONBLK_AD)))
        set(offset + BCM2835_CONBLK_AD, bus_of(copies));
    set(offset, value);
    if (cs && value & BCM2835_CS_RESET && channel == injected.channel)
        injected.fault = BOARD_FAULT_NONE; /* one fault at a time */
}

/* Returns the controller's channel: the n-th bit of DMA_CHANNELS. */
static uint32_t number_of(uint32_t n)
{
    uint32_t channel = 0;

    while (!(DMA_CHANNELS >> channel & 1) || n-- > 0)
        channel++;
    return channel;
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = number_of(channel);
    injected.after = after;
    injected.active = injected.active && fault != BOARD_FAULT_NONE;
    return true;
}
