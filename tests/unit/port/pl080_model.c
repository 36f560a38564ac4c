/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/pl080_model.h"

#include <string.h>

#include "libmli/port/pl080/pl080_registers.h"
#include "tests/unit/port/bus_windows.h"
#include "tests/unit/port/chain_scenes.h"

enum { CHANNELS = PL080_CHANNELS_MAX, FIFO_WORDS = 4, PACE = 16 };

static struct channel {
    struct pl080_item now; /* the registers */
    uint32_t configuration;
    uint32_t read;  /* transfers of the item that the source has made, */
    uint32_t wrote; /* and the destination */
    uint8_t fifo[FIFO_WORDS][4];
} channels[CHANNELS];

struct pl080_model pl080_model;

static uint32_t ends, errors, enable;
static const char *complaint;

static void complain(const char *what)
{
    if (!complaint)
        complaint = what;
}

const char *pl080_model_complaint(void)
{
    return complaint;
}

static uint64_t bus_address(const void *memory)
{
    uint64_t bus;

    if (!bus_windows_address(memory, &bus))
        complain("memory in too many windows");
    return bus;
}

static uint32_t size_of(const struct channel *c)
{
    return c->now.control & PL080_SIZE_MAX;
}

static void check_item(const struct channel *c)
{
    const uint32_t width = c->now.control >> 18 & 7;

    if (size_of(c) == 0)
        complain("an item without transfers");
    if (width > 2 || width != (c->now.control >> 21 & 7))
        complain("a width that the model does not have");
    if ((c->now.src | c->now.dst) & ((1u << width) - 1))
        complain("an address that is not aligned to the transfers");
    if (c->now.next & 3)
        complain("a bad address of an item");
}

/* Loads the next item, or disables the channel. */
static void next_item(uint32_t number)
{
    struct channel *c = &channels[number];

    pl080_model.items++;
    if (c->now.control & PL080_TC_INTERRUPT)
        ends |= 1u << number;
    c->read = c->wrote = 0;
    if (c->now.next == 0) {
        c->configuration &= ~PL080_C_ENABLE;
        return;
    }
    memcpy(&c->now, bus_windows_memory(c->now.next), sizeof(c->now));
    check_item(c);
}

/* Reads as much as the FIFO holds, or writes one transfer. */
static void step(uint32_t number)
{
    struct channel *c = &channels[number];
    const uint32_t bytes = 1u << (c->now.control >> 18 & 3);

    if (!(c->configuration & PL080_C_ENABLE) || !(enable & 1))
        return;
    if (c->read == c->wrote && !(c->configuration & PL080_C_HALT)) {
        while (c->read - c->wrote < FIFO_WORDS && c->read < size_of(c)) {
            memcpy(c->fifo[c->read++ % FIFO_WORDS], bus_windows_memory(c->now.src), bytes);
            c->now.src += c->now.control & PL080_SRC_INCREMENT ? bytes : 0;
        }
    } else if (c->wrote < c->read) {
        if (pl080_model.fail_at && bus_windows_memory(c->now.dst) == pl080_model.fail_at) {
            errors |= 1u << number;
            c->configuration &= ~PL080_C_ENABLE;
            c->read = c->wrote;
            return;
        }
        memcpy(bus_windows_memory(c->now.dst), c->fifo[c->wrote++ % FIFO_WORDS], bytes);
        c->now.dst += bytes;
        if (c->wrote == size_of(c))
            next_item(number);
    }
}

static uint32_t read_channel(const struct channel *c, uint32_t offset)
{
    switch (offset) {
    case PL080_C_LLI:
        return c->now.next;
    case PL080_C_CONFIGURATION:
        return c->configuration | (c->read > c->wrote ? PL080_C_ACTIVE : 0);
    default:
        complain("a read of another register of a channel");
        return 0;
    }
}

static uint32_t enabled(uint32_t bit)
{
    uint32_t channels_with_bit = 0;

    for (uint32_t i = 0; i < CHANNELS; i++)
        channels_with_bit |= (channels[i].configuration & bit ? 1u : 0u) << i;
    return channels_with_bit;
}

static uint32_t read_register(uint32_t offset)
{
    static const uint8_t id[] = {0x80, 0x10, 0x04, 0x0a};

    if (offset >= PL080_PERIPH_ID)
        return id[(offset - PL080_PERIPH_ID) / 4 % sizeof(id)];
    if (offset >= PL080_CHANNELS)
        return read_channel(&channels[(offset - PL080_CHANNELS) / PL080_CHANNEL_BYTES % CHANNELS],
                            offset % PL080_CHANNEL_BYTES);
    switch (offset) {
    case PL080_RAW_ERROR_STATUS:
        return errors;
    case PL080_INT_ERROR_STATUS:
        return errors & enabled(PL080_C_ERROR_INTERRUPT);
    case PL080_INT_TC_STATUS:
        return ends & enabled(PL080_C_TC_INTERRUPT);
    case PL080_ENABLED_CHANNELS:
        for (uint32_t i = 0; i < pl080_model.pace * CHANNELS; i++)
            step(i % CHANNELS);
        return enabled(PL080_C_ENABLE);
    default:
        complain("a read of another register");
        return 0;
    }
}

static void configure(struct channel *c, uint32_t value)
{
    const bool starts = value & PL080_C_ENABLE && !(c->configuration & PL080_C_ENABLE);

    if (starts && value & PL080_C_HALT)
        complain("a halt of a channel that is not enabled");
    c->configuration = value;
    if (!starts && value & PL080_C_ENABLE)
        return;
    c->read = c->wrote = 0; /* the FIFO loses its data */
    if (starts)
        check_item(c);
}

static void write_channel(struct channel *c, uint32_t offset, uint32_t value)
{
    uint32_t *words[] = {&c->now.src, &c->now.dst, &c->now.next, &c->now.control};

    if (offset == PL080_C_CONFIGURATION) {
        configure(c, value);
        return;
    }
    if (c->configuration & PL080_C_ENABLE || offset > PL080_C_CONTROL)
        complain("a write to a register of a channel that is enabled");
    else
        *words[offset / 4] = value;
}

static void write_register(uint32_t offset, uint32_t value)
{
    if (offset >= PL080_CHANNELS)
        write_channel(&channels[(offset - PL080_CHANNELS) / PL080_CHANNEL_BYTES % CHANNELS],
                      offset % PL080_CHANNEL_BYTES, value);
    else if (offset == PL080_INT_TC_CLEAR)
        ends &= ~value;
    else if (offset == PL080_INT_ERROR_CLEAR)
        errors &= ~value;
    else if (offset == PL080_CONFIGURATION)
        enable = value;
    else
        complain("a write of another register");
}

void pl080_model_run(uint32_t steps)
{
    for (uint32_t i = 0; i < steps * CHANNELS; i++)
        step(i % CHANNELS);
    if (!(ends & enabled(PL080_C_TC_INTERRUPT)) && !(errors & enabled(PL080_C_ERROR_INTERRUPT)))
        return;
    pl080_model.handled++;
    pl080_interrupt();
    if (!pl080_model.pace && (ends & enabled(PL080_C_TC_INTERRUPT)))
        complain("an interrupt that the handler does not silence");
}

void pl080_model_reset(void)
{
    static const struct pl080_platform platform = {
        .interrupts = true, .read = read_register, .write = write_register};
    static const struct mli_platform addresses = {.size = sizeof(addresses),
                                                  .bus_address = bus_address};

    memset(channels, 0, sizeof(channels));
    bus_windows_reset();
    pl080_model = (struct pl080_model){.pace = PACE};
    ends = errors = enable = 0;
    complaint = NULL;
    (void)mli_mov_set_platform(&addresses);
    pl080_set_platform(&platform);
}

const struct chain_model chain_model = {
    .engine = &pl080_engine,
    .polled = "pl080:interrupt=0,run=0,piece=0",
    .interrupts = "pl080:interrupt=1,run=0,piece=0",
    .cancel_step = 7,
    .pace = &pl080_model.pace,
    .handled = &pl080_model.handled,
    .fail_at = &pl080_model.fail_at,
    .reset = pl080_model_reset,
    .run = pl080_model_run,
    .complaint = pl080_model_complaint,
};
