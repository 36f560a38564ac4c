/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the Raspberry Pi 2. */
#include "tests/firmware/property/inject.h"

#include "boards/drivers/bcm2835.h"

const bool board_reports_bus_errors = false;

/*
 * QEMU 7.2's model reports no errors and never stops. A fault is therefore made here: the channel
 * executes a copy of the chain that ends before the row of the fault, and the registers then read
 * as those of a channel that has stopped in this row. The interrupt of an error is real.
 */

/* Bus addresses of memory, without the alias. */
#define BUS_MASK 0x3FFFFFFFu

enum { READ_ERROR = 4, COPIES = BCM2835_BLOCKS_MAX + 1 };

static struct bcm2835_platform platform;

/* The fault. `channel` is a channel number of the controller. */
static struct {
    enum board_fault fault;
    uint32_t channel, after;
    bool active; /* the channel has stopped in `block`, after `rows` of its rows */
    bool paused;
    uint32_t address; /* bus address of the control block */
    struct bcm2835_block block;
    uint32_t rows;
} injected;

static _Alignas(32) struct bcm2835_block copies[COPIES];

static uint32_t dma_get(uint32_t offset)
{
    return *(volatile uint32_t *)(platform.base + offset);
}

static void dma_set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(platform.base + offset) = value;
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

/*
 * Appends a last control block to the copy. This block moves one word between two variables of this
 * function. If the fault is an error, the block also raises the interrupt.
 */
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

static uint32_t inject_read(uint32_t offset)
{
    const struct bcm2835_block *block = &injected.block;
    const uint32_t value = dma_get(offset), x = block->txfr_len & 0xffff;

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

static void inject_write(uint32_t offset, uint32_t value)
{
    const uint32_t channel = offset / BCM2835_CHANNEL_BYTES;
    const bool cs = offset % BCM2835_CHANNEL_BYTES == BCM2835_CS;

    if (is_stopped(offset) && cs && value & BCM2835_CS_RESET)
        injected.active = false;
    if (is_stopped(offset) && cs)
        injected.paused = true;
    if (injected.fault != BOARD_FAULT_NONE && !injected.active && channel == injected.channel &&
        cs && value & BCM2835_CS_ACTIVE && copy_chain(dma_get(offset + BCM2835_CONBLK_AD)))
        dma_set(offset + BCM2835_CONBLK_AD, bus_of(copies));
    dma_set(offset, value);
    if (cs && value & BCM2835_CS_RESET && channel == injected.channel)
        injected.fault = BOARD_FAULT_NONE; /* one fault at a time */
}

/* Returns the controller's channel: the n-th of those that the engine may use. */
static uint32_t number_of(uint32_t n)
{
    uint32_t channel = 0;

    while (!(platform.channels >> channel & 1) || n-- > 0)
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

/* The linker replaces calls of bcm2835_set_platform() by those of __wrap_bcm2835_set_platform()
 * (--wrap). */
void __real_bcm2835_set_platform(const struct bcm2835_platform *given);
void __wrap_bcm2835_set_platform(const struct bcm2835_platform *given);

void __wrap_bcm2835_set_platform(const struct bcm2835_platform *given)
{
    platform = *given;
    platform.read = inject_read;
    platform.write = inject_write;
    __real_bcm2835_set_platform(&platform);
}
