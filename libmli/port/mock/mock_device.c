/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/mock/mock_device.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { NEVER = -1 };

static struct channel {
    atomic_flag bus; /* a thread holds the bus during an access, and while time passes */
    const struct mock_descriptor *ring;
    uint32_t size, head, tail;
    bool enabled, busy, error, aborting;
    uint64_t rows, fault; /* row and fault address of the current descriptor */
    uint32_t pace;
    int64_t fail_after;
} channels[MOCK_DEVICE_CHANNELS] = {
    [0 ... MOCK_DEVICE_CHANNELS - 1] = {.bus = ATOMIC_FLAG_INIT, .pace = 1, .fail_after = NEVER},
};

static struct {
    uint64_t address, bytes;
} poison;

static struct channel *take_bus(uint32_t channel)
{
    struct channel *c = &channels[channel];

    while (atomic_flag_test_and_set_explicit(&c->bus, memory_order_acquire))
        ;
    return c;
}

static void give_bus(struct channel *c)
{
    atomic_flag_clear_explicit(&c->bus, memory_order_release);
}

/*
 * Returns whether memory answers at all of these addresses; else records the first address that
 * fails.
 */
static bool answered(struct channel *c, uint64_t address, uint64_t bytes)
{
    if (address >= poison.address + poison.bytes || poison.address >= address + bytes)
        return true;
    c->fault = address > poison.address ? address : poison.address;
    return false;
}

static bool move_row(struct channel *c, const struct mock_descriptor *d, uint64_t src, uint64_t dst)
{
    const bool fill = d->flags & MOCK_FILL;

    if (!answered(c, dst, d->run) || (!fill && !answered(c, src, d->run)))
        return false;
    if (fill)
        memset((void *)(uintptr_t)dst, 0, d->run);
    else
        memcpy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, d->run);
    c->rows++;
    return true;
}

/* Returns whether all fields are in range and all unknown bits are 0. */
static bool is_legal(const struct mock_descriptor *d)
{
    bool legal = d->run >= 1 && d->run <= MOCK_RUN_MAX && (d->flags & ~MOCK_FILL) == 0;

    for (int i = 0; i < MOCK_LOOPS; i++)
        legal = legal && d->loop[i].count >= 1 && d->loop[i].count <= MOCK_COUNT_MAX &&
                d->loop[i].src_step <= MOCK_STEP_MAX && d->loop[i].dst_step <= MOCK_STEP_MAX;
    return legal;
}

static bool execute(struct channel *c, const struct mock_descriptor *d)
{
    c->rows = 0;
    c->fault = 0;
    if (!is_legal(d))
        return false;
    if (c->fail_after >= 0 && c->fail_after-- == 0) {
        c->fault = d->dst;
        return false;
    }
    for (uint64_t i = 0; i < d->loop[0].count; i++) {
        for (uint64_t j = 0; j < d->loop[1].count; j++) {
            if (!move_row(c, d, d->src + i * d->loop[0].src_step + j * d->loop[1].src_step,
                          d->dst + i * d->loop[0].dst_step + j * d->loop[1].dst_step))
                return false;
        }
    }
    return true;
}

/* Executes one descriptor: time passes by one step. */
static void pass(struct channel *c)
{
    if (!c->busy)
        return;
    if (c->aborting || c->head == c->tail) {
        c->busy = false;
    } else if (execute(c, &c->ring[c->head])) {
        c->head = (c->head + 1) % c->size;
    } else {
        c->error = true;
        c->busy = false;
    }
}

static uint32_t status(struct channel *c)
{
    for (uint32_t i = 0; i < c->pace; i++)
        pass(c);
    return (c->busy ? MOCK_BUSY : 0) | (c->error ? MOCK_ERROR : 0);
}

static void control(struct channel *c, uint64_t value)
{
    c->enabled = value & MOCK_ENABLE;
    c->aborting = value & MOCK_ABORT;
    if (!(value & MOCK_RESET) || c->busy)
        return;
    c->head = 0;
    c->tail = 0;
    c->error = false;
}

uint64_t mock_device_read(uint32_t channel, enum mock_register reg)
{
    struct channel *c = take_bus(channel);
    const uint64_t value = reg == MOCK_RING_BASE   ? (uintptr_t)c->ring
                           : reg == MOCK_RING_SIZE ? c->size
                           : reg == MOCK_HEAD      ? c->head
                           : reg == MOCK_TAIL      ? c->tail
                           : reg == MOCK_STATUS    ? status(c)
                           : reg == MOCK_ROWS      ? c->rows
                           : reg == MOCK_FAULT     ? c->fault
                                                   : 0;

    give_bus(c);
    return value;
}

void mock_device_write(uint32_t channel, enum mock_register reg, uint64_t value)
{
    struct channel *c = take_bus(channel);

    if (reg == MOCK_RING_BASE && !c->enabled)
        c->ring = (const struct mock_descriptor *)(uintptr_t)value;
    if (reg == MOCK_RING_SIZE && !c->enabled)
        c->size = (uint32_t)value;
    if (reg == MOCK_CONTROL)
        control(c, value);
    if (reg == MOCK_TAIL && c->enabled && value < c->size) {
        c->tail = (uint32_t)value;
        c->busy = c->busy || (!c->error && c->tail != c->head);
    }
    give_bus(c);
}

void mock_device_set_pace(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = take_bus(channel);

    c->pace = descriptors;
    give_bus(c);
}

void mock_device_run(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = take_bus(channel);

    for (uint32_t i = 0; i < descriptors; i++)
        pass(c);
    give_bus(c);
}

void mock_device_poison(uint64_t address, uint64_t bytes)
{
    poison.address = address;
    poison.bytes = bytes;
}

void mock_device_fail_after(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = take_bus(channel);

    c->fail_after = descriptors;
    give_bus(c);
}
