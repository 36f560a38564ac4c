/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/pxa27x_model.h"

#include <string.h>

#include "libmli/port/pxa27x/pxa27x_registers.h"
#include "tests/unit/port/bus_windows.h"
#include "tests/unit/port/chain_scenes.h"

enum { CHANNELS = PXA27X_CHANNELS_ALL, BURST = 32, WRITE = 8, PACE = 16 };

#define CHANNELS_OF_ENGINE (0xffffu << PXA27X_MODEL_FIRST)
#define KNOWN_COMMAND                                                                              \
    (PXA27X_LENGTH_MAX | PXA27X_BURST_32 | PXA27X_DST_INCREMENT | PXA27X_SRC_INCREMENT)

static struct channel {
    struct pxa27x_item now; /* the registers */
    uint32_t status;
    bool fetch;  /* the next step loads a descriptor */
    bool failed; /* the next step stops the channel after an error */
    uint8_t buffer[BURST];
    uint32_t read, wrote; /* bytes of the burst */
} channels[CHANNELS];

struct pxa27x_model pxa27x_model;

static uint32_t alignment;
static const char *complaint;

static void complain(const char *what)
{
    if (!complaint)
        complaint = what;
}

const char *pxa27x_model_complaint(void)
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

static uint32_t left(const struct channel *c)
{
    return c->now.command & PXA27X_LENGTH_MAX;
}

static void stop(struct channel *c)
{
    c->status = (c->status & ~PXA27X_RUN) | PXA27X_STOPPED;
}

static void fetch(struct channel *c)
{
    if (c->now.next & 15) {
        complain("a bad address of a descriptor");
        stop(c);
        return;
    }
    memcpy(&c->now, bus_windows_memory(c->now.next), sizeof(c->now));
    c->fetch = false;
    c->read = c->wrote = 0;
    if (left(c) == 0 || c->now.command & ~KNOWN_COMMAND ||
        !(c->now.command & PXA27X_DST_INCREMENT) || !(c->now.command & PXA27X_BURST_32))
        complain("a bad command");
    if (!(alignment >> (c - channels) & 1) && ((c->now.src | c->now.dst) & 7))
        complain("an address that is not aligned to 8 bytes");
}

static void read_burst(struct channel *c)
{
    c->read = left(c) < BURST ? left(c) : BURST;
    memcpy(c->buffer, bus_windows_memory(c->now.src), c->read);
    c->now.src += c->now.command & PXA27X_SRC_INCREMENT ? c->read : 0;
}

/* Ends a descriptor, all of which is written. */
static void end_item(struct channel *c)
{
    pxa27x_model.items++;
    if (c->now.next & PXA27X_STOP)
        stop(c);
    else
        c->fetch = true;
}

static void write_part(struct channel *c)
{
    const uint32_t rest = c->read - c->wrote, bytes = rest < WRITE ? rest : WRITE;
    uint8_t *to = bus_windows_memory(c->now.dst);

    if (pxa27x_model.fail_at >= to && pxa27x_model.fail_at < to + bytes) {
        c->status |= PXA27X_BUS_ERROR;
        c->failed = true;
        return;
    }
    memcpy(to, c->buffer + c->wrote, bytes);
    c->now.dst += bytes;
    c->wrote += bytes;
    if (c->wrote < c->read)
        return;
    c->now.command -= c->read;
    c->read = c->wrote = 0;
    if (left(c) == 0)
        end_item(c);
}

/* Loads a descriptor, reads a burst, or writes a part of it. Without RUN, it ends the burst. */
static void step(struct channel *c)
{
    if (c->status & PXA27X_STOPPED || pxa27x_model.stuck)
        return;
    if (c->failed || (c->wrote == c->read && !(c->status & PXA27X_RUN)))
        stop(c);
    else if (c->wrote < c->read)
        write_part(c);
    else if (c->fetch)
        fetch(c);
    else
        read_burst(c);
}

static void pass(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t j = 0; j < CHANNELS; j++)
            step(&channels[j]);
    }
}

static uint32_t interrupts(void)
{
    uint32_t raised = 0;

    for (uint32_t i = 0; i < CHANNELS; i++) {
        const uint32_t status = channels[i].status;

        if (status & PXA27X_CAUSES || (status & PXA27X_STOPPED && status & PXA27X_STOP_INTERRUPT))
            raised |= 1u << i;
    }
    return raised;
}

static uint32_t read_register(uint32_t offset)
{
    const struct channel *c = &channels[offset / PXA27X_CHANNEL_BYTES % CHANNELS];

    if (offset < 4 * CHANNELS) {
        pass(pxa27x_model.pace);
        return channels[offset / 4].status;
    }
    if (offset == PXA27X_DALGN)
        return alignment;
    if (offset == PXA27X_DINT)
        return interrupts();
    if (offset >= PXA27X_CHANNELS && offset < PXA27X_CHANNELS + CHANNELS * PXA27X_CHANNEL_BYTES)
        return (const uint32_t[]){c->now.next, c->now.src, c->now.dst,
                                  c->now.command}[offset % PXA27X_CHANNEL_BYTES / 4];
    complain("a read of another register");
    return 0;
}

static void write_status(struct channel *c, uint32_t value)
{
    const bool runs = c->status & PXA27X_RUN;
    const uint32_t keeps = PXA27X_STOPPED | (c->status & PXA27X_CAUSES & ~value);

    /* Without RUN: a channel that runs stops after its burst. */
    c->status = (c->status & keeps) | (value & PXA27X_STOP_INTERRUPT);
    if (!(value & PXA27X_RUN))
        return;
    if (runs || !(c->status & PXA27X_STOPPED))
        complain("a start of a channel that has not stopped");
    if (c->status & PXA27X_BUS_ERROR)
        complain("a start after an error that is not cleared");
    c->status = (c->status & ~PXA27X_STOPPED) | PXA27X_RUN;
    c->read = c->wrote = 0;
    c->fetch = true;
    c->failed = false;
}

static void write_register(uint32_t offset, uint32_t value)
{
    const uint32_t number =
        offset < 4 * CHANNELS ? offset / 4 : offset / PXA27X_CHANNEL_BYTES % CHANNELS;
    struct channel *c = &channels[number];

    if (offset == PXA27X_DALGN) {
        alignment = value;
        return;
    }
    if (!(CHANNELS_OF_ENGINE >> number & 1))
        complain("a write to a channel that is not the engine's");
    if (offset < 4 * CHANNELS)
        write_status(c, value);
    else if (offset < PXA27X_CHANNELS || offset % PXA27X_CHANNEL_BYTES != PXA27X_DDADR)
        complain("a write of another register");
    else if (!(c->status & PXA27X_STOPPED))
        complain("a write of DDADR of a channel that has not stopped");
    else
        c->now.next = value;
}

void pxa27x_model_run(uint32_t steps)
{
    pass(steps);
    if (!interrupts())
        return;
    pxa27x_model.handled++;
    pxa27x_interrupt();
    if (!pxa27x_model.pace && interrupts())
        complain("an interrupt that the handler does not silence");
}

void pxa27x_model_reset(void)
{
    static const struct pxa27x_platform platform = {.channels = CHANNELS_OF_ENGINE,
                                                    .interrupts = true,
                                                    .read = read_register,
                                                    .write = write_register};
    static const struct mli_platform addresses = {.size = sizeof(addresses),
                                                  .bus_address = bus_address};

    memset(channels, 0, sizeof(channels));
    for (uint32_t i = 0; i < CHANNELS; i++)
        channels[i].status = PXA27X_STOPPED;
    bus_windows_reset();
    pxa27x_model = (struct pxa27x_model){.pace = PACE};
    alignment = 0;
    complaint = NULL;
    (void)mli_mov_set_platform(&addresses);
    pxa27x_set_platform(&platform);
}

const struct chain_model chain_model = {
    .engine = &pxa27x_engine,
    .polled = "pxa27x:interrupt=0,run=0,piece=0",
    .interrupts = "pxa27x:interrupt=1,run=0,piece=0",
    .cancel_step = 3,
    .pace = &pxa27x_model.pace,
    .handled = &pxa27x_model.handled,
    .fail_at = &pxa27x_model.fail_at,
    .reset = pxa27x_model_reset,
    .run = pxa27x_model_run,
    .complaint = pxa27x_model_complaint,
};
