/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/boards/pdma_model.h"

#include <string.h>

#include "boards/drivers/pdma.h"

#define INTERRUPTS (PDMA_DONE_IE | PDMA_ERROR_IE)
#define WRITABLE   (PDMA_CLAIM | PDMA_RUN | INTERRUPTS | PDMA_DONE | PDMA_ERROR)

static struct {
    struct channel {
        uint32_t control, config, ignored_starts;
        bool enabled; /* interrupts reach the processor */
        uint64_t bytes, destination, source;
    } channels[PDMA_CHANNELS];
    const uint8_t *bad, *hole;
    size_t bad_bytes, hole_bytes;
    bool fast, in_handler;
    uint32_t blocks, interrupts, violations;
} model;

static bool interrupts(const struct channel *c)
{
    return c->enabled && ((c->control & PDMA_DONE && c->control & PDMA_DONE_IE) ||
                          (c->control & PDMA_ERROR && c->control & PDMA_ERROR_IE));
}

/* The processor takes an interrupt at once, unless it is in the handler. */
static void deliver(void)
{
    for (uint32_t i = 0; i < PDMA_CHANNELS && !model.in_handler; i++) {
        while (interrupts(&model.channels[i])) {
            model.interrupts++;
            model.in_handler = true;
            pdma_interrupt(i);
            model.in_handler = false;
        }
    }
}

static void run_block(struct channel *c)
{
    const uint64_t size = UINT64_C(1) << (c->config >> 28);
    const uint8_t *to = (const uint8_t *)(uintptr_t)c->destination;

    model.violations += c->config >> 28 != (c->config >> 24 & 15) || size > 64 ||
                        (c->config & 0xFFFFFF) != 0 || c->bytes == 0 ||
                        ((c->source | c->destination | c->bytes) & (size - 1)) != 0;
    c->control &= ~PDMA_RUN;
    if (model.bad && to < model.bad + model.bad_bytes && model.bad < to + c->bytes) {
        c->control |= PDMA_ERROR;
        return;
    }
    memcpy((void *)(uintptr_t)c->destination, (const void *)(uintptr_t)c->source, (size_t)c->bytes);
    c->control |= PDMA_DONE;
    model.blocks++;
}

static void write_control(struct channel *c, uint32_t value)
{
    const bool claimed = c->control & PDMA_CLAIM, runs = c->control & PDMA_RUN;

    model.violations += (value & ~WRITABLE) != 0 || (runs && !(value & PDMA_CLAIM));
    if (!claimed && value & PDMA_CLAIM) {
        c->config = 0;
        c->bytes = c->destination = c->source = 0;
    }
    c->control = value & ~PDMA_RUN;
    if (runs)
        c->control |= PDMA_RUN;
    if (!(value & PDMA_RUN) || runs || !(value & PDMA_CLAIM))
        return;
    if (c->ignored_starts > 0) {
        c->ignored_starts--;
        return;
    }
    c->control |= PDMA_RUN;
    if (model.fast)
        run_block(c);
}

static void write_register(uint32_t channel, uint32_t offset, uint64_t value)
{
    struct channel *c = &model.channels[channel];

    if (offset == PDMA_CONTROL)
        write_control(c, (uint32_t)value);
    else if (offset == PDMA_NEXT_CONFIG)
        c->config = (uint32_t)value;
    else if (offset == PDMA_NEXT_BYTES)
        c->bytes = value;
    else if (offset == PDMA_NEXT_DESTINATION)
        c->destination = value;
    else if (offset == PDMA_NEXT_SOURCE)
        c->source = value;
    else
        model.violations++;
    deliver();
}

static uint64_t read_register(uint32_t channel, uint32_t offset)
{
    model.violations += offset != PDMA_CONTROL;
    return model.channels[channel].control;
}

static void enable_interrupts(uint32_t channel, bool enable)
{
    model.channels[channel].enabled = enable;
    deliver();
}

static bool has_memory(uint64_t address, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)(uintptr_t)address;

    return at >= model.hole + model.hole_bytes || at + bytes <= model.hole;
}

void pdma_model_init(void)
{
    static const struct pdma_platform platform = {
        .channels = PDMA_CHANNELS,
        .read = read_register,
        .write = write_register,
        .enable_interrupts = enable_interrupts,
        .has_memory = has_memory,
    };

    memset(&model, 0, sizeof(model));
    model.fast = true;
    pdma_set_platform(&platform);
}

void pdma_model_set_fast(bool fast)
{
    model.fast = fast;
}

bool pdma_model_step(uint32_t channel)
{
    if (!pdma_model_runs(channel))
        return false;
    run_block(&model.channels[channel]);
    deliver();
    return true;
}

void pdma_model_set_bad(const void *at, size_t bytes)
{
    model.bad = at;
    model.bad_bytes = bytes;
}

void pdma_model_set_hole(const void *at, size_t bytes)
{
    model.hole = at;
    model.hole_bytes = bytes;
}

void pdma_model_stick(uint32_t channel, uint32_t count)
{
    model.channels[channel].ignored_starts = count;
}

bool pdma_model_runs(uint32_t channel)
{
    return model.channels[channel].control & PDMA_RUN;
}

uint32_t pdma_model_blocks(void)
{
    return model.blocks;
}

uint32_t pdma_model_interrupts(void)
{
    return model.interrupts;
}

uint32_t pdma_model_violations(void)
{
    return model.violations;
}
