/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/mock/mock_device.h"

#include <stdatomic.h>
#include <string.h>

enum { NEVER = -1 };

static struct channel {
    atomic_flag bus; /* a thread holds the bus during an access, and while time passes */
    const struct mock_descriptor *ring;
    uint32_t size, head, tail;
    bool enabled, busy, error, aborting;
    bool interrupts, raised;
    uint64_t rows, fault; /* row and fault address of the current descriptor */
    uint32_t pace;
    int64_t fail_after;
} channels[MOCK_DEVICE_CHANNELS] = {
    [0 ... MOCK_DEVICE_CHANNELS - 1] = {.bus = ATOMIC_FLAG_INIT, .pace = 1, .fail_after = NEVER},
};

static uint32_t unit = 1;
static void (*_Atomic interrupt_handler)(uint32_t channel);
static void (*_Atomic start_listener)(void);

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

static bool move_row(struct channel *c, const struct mock_descriptor *d, uint64_t src, uint64_t dst)
{
    const bool fill = d->flags & MOCK_FILL;
    uint8_t *to = mock_bus_find(dst, d->run, true, &c->fault);
    const uint8_t *from = fill || !to ? to : mock_bus_find(src, d->run, false, &c->fault);

    if (!from)
        return false;
    if (fill)
        memset(to, 0, d->run);
    else
        memcpy(to, from, d->run);
    c->rows++;
    return true;
}

/* Returns whether all fields are in range, multiples of the unit, and all unknown bits are 0. */
static bool is_legal(const struct mock_descriptor *d)
{
    bool legal = d->run >= 1 && d->run <= MOCK_RUN_MAX && (d->flags & ~MOCK_FILL) == 0;
    uint64_t bits = d->run | d->dst | (d->flags & MOCK_FILL ? 0 : d->src);

    for (int i = 0; i < MOCK_LOOPS; i++) {
        legal = legal && d->loop[i].count >= 1 && d->loop[i].count <= MOCK_COUNT_MAX &&
                d->loop[i].src_step <= MOCK_STEP_MAX && d->loop[i].dst_step <= MOCK_STEP_MAX;
        bits |= d->loop[i].src_step | d->loop[i].dst_step;
    }
    return legal && bits % unit == 0;
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
    c->raised = true;
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
    for (uint32_t i = 0; !c->interrupts && i < c->pace; i++)
        pass(c);
    return (c->busy ? MOCK_BUSY : 0) | (c->error ? MOCK_ERROR : 0);
}

static void control(struct channel *c, uint64_t value)
{
    c->enabled = value & MOCK_ENABLE;
    c->aborting = value & MOCK_ABORT;
    c->interrupts = value & MOCK_INTERRUPTS;
    if (!(value & MOCK_RESET) || c->busy)
        return;
    c->head = 0;
    c->tail = 0;
    c->error = false;
    c->raised = false;
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
                           : reg == MOCK_RAISED    ? c->raised
                                                   : 0;

    give_bus(c);
    return value;
}

void mock_device_write(uint32_t channel, enum mock_register reg, uint64_t value)
{
    struct channel *c = take_bus(channel);
    void (*listener)(void);
    bool starts;

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
    if (reg == MOCK_RAISED)
        c->raised = c->raised && value == 0;
    starts = c->busy && c->interrupts;
    give_bus(c);
    listener = atomic_load_explicit(&start_listener, memory_order_relaxed);
    if (starts && listener)
        listener();
}

void mock_device_set_pace(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = take_bus(channel);

    c->pace = descriptors;
    give_bus(c);
}

bool mock_device_run(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = &channels[channel];
    void (*handler)(uint32_t) = atomic_load_explicit(&interrupt_handler, memory_order_acquire);
    bool interrupts, busy;

    if (atomic_flag_test_and_set_explicit(&c->bus, memory_order_acquire))
        return true; /* the interrupted code is inside an access */
    for (uint32_t i = 0; i < descriptors; i++)
        pass(c);
    interrupts = c->interrupts && c->raised;
    busy = c->busy;
    give_bus(c);
    if (interrupts && handler)
        handler(channel);
    return busy || interrupts;
}

void mock_device_set_handler(void (*handler)(uint32_t))
{
    atomic_store_explicit(&interrupt_handler, handler, memory_order_release);
}

void mock_device_set_listener(void (*listener)(void))
{
    atomic_store_explicit(&start_listener, listener, memory_order_relaxed);
}

void mock_device_set_unit(uint32_t bytes)
{
    unit = bytes;
}

void mock_device_fail_after(uint32_t channel, uint32_t descriptors)
{
    struct channel *c = take_bus(channel);

    c->fail_after = descriptors;
    give_bus(c);
}
