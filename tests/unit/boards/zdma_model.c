/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/boards/zdma_model.h"

#include <pthread.h>
#include <string.h>

#include "boards/drivers/zdma.h"
#include "tests/support/unit.h"

enum { REGISTERS_END = 0x204, COUNT_MAX = 255, IDLE = 0, PAUSED = 1, CMD_PAUSE = 1, CMD_STOP = 2 };

/* One side of a list: the rest of the current element, and the next element. */
struct side {
    const uint32_t *next;
    uint8_t *data;
    uint32_t size, control;
};

static struct channel {
    pthread_mutex_t bus;
    uint32_t word[REGISTERS_END / 4];
    struct side src, dst;
    uint32_t pace;
    bool ignore_start;
} channels[ZDMA_MODEL_CHANNELS] = {
    [0 ... ZDMA_MODEL_CHANNELS - 1] = {.bus = PTHREAD_MUTEX_INITIALIZER},
};

static struct {
    uintptr_t address;
    uint32_t bytes;
    bool reads, writes;
} poison;

static uint32_t lists, fills;
static void (*watcher)(const uint32_t *src, const uint32_t *dst);

static uint32_t *reg(struct channel *c, uint32_t offset)
{
    assert_true(offset % 4 == 0 && offset < REGISTERS_END);
    return &c->word[offset / 4];
}

static uint32_t state(struct channel *c)
{
    return *reg(c, ZDMA_STATUS);
}

/* An element in memory has its least significant byte first. */
static uint32_t word_of(const uint32_t *element, uint32_t i)
{
    const uint8_t *b = (const uint8_t *)(element + i);

    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t pair_of(const uint32_t *element, uint32_t i)
{
    return word_of(element, i) | (uint64_t)word_of(element, i + 1) << 32;
}

static uint64_t pair_at(struct channel *c, uint32_t offset)
{
    return *reg(c, offset) | (uint64_t)*reg(c, offset + 4) << 32;
}

/* Fetches the next element of the source list or of the destination list. */
static void fetch(struct side *side)
{
    const uint32_t *e = side->next;
    const uint32_t control = word_of(e, 3), size = word_of(e, 2);
    const bool linked = control & ZDMA_LINKED;

    assert_true((uintptr_t)e % (linked ? 32 : 16) == 0);
    assert_true(size > 0 && size <= ZDMA_SIZE_MAX && control >> 5 == 0);
    side->data = (uint8_t *)(uintptr_t)pair_of(e, 0);
    side->size = size;
    side->control = control;
    if (!linked && !(control & ZDMA_STOP))
        assert_true(((uintptr_t)e + 16) % 4096 != 0); /* the last one of a page must be linked */
    side->next = linked ? (const uint32_t *)(uintptr_t)pair_of(e, 4) : e + 4;
    if (linked)
        assert_true(word_of(e, 6) == 0 && word_of(e, 7) == 0);
}

static bool answers(const uint8_t *data, uint32_t bytes, bool writes)
{
    const uintptr_t at = (uintptr_t)data;

    return !(writes ? poison.writes : poison.reads) || at >= poison.address + poison.bytes ||
           at + bytes <= poison.address;
}

static void stop(struct channel *c, uint32_t new_state, uint32_t events)
{
    *reg(c, ZDMA_STATUS) = new_state;
    *reg(c, ZDMA_ISR) |= events;
    *reg(c, ZDMA_CTRL2) = new_state == PAUSED ? ZDMA_ENABLE : 0;
}

/* Counts a destination element that has the flag INTR. */
static void count(struct channel *c)
{
    uint32_t *counter = reg(c, ZDMA_DST_COUNT);

    assert_true(*counter < COUNT_MAX);
    ++*counter;
    *reg(c, ZDMA_ISR) |= 1u << 2;
}

/* Writes a source element's bytes to destination elements. Returns false after an error. */
static bool deliver(struct channel *c)
{
    struct side *src = &c->src, *dst = &c->dst;

    while (src->size > 0) {
        uint32_t bytes;

        if (dst->size == 0)
            fetch(dst);
        assert_int_equal(dst->control & ZDMA_STOP, 0); /* reserved */
        bytes = src->size < dst->size ? src->size : dst->size;
        if (!answers(src->data, bytes, false)) {
            stop(c, ZDMA_STATE_ERROR, ZDMA_AXI_RD_DATA | ZDMA_DMA_DONE);
            return false;
        }
        if (!answers(dst->data, bytes, true)) {
            stop(c, ZDMA_STATE_ERROR, ZDMA_AXI_WR_DATA | ZDMA_DMA_DONE);
            return false;
        }
        memcpy(dst->data, src->data, bytes);
        src->data += bytes;
        src->size -= bytes;
        dst->data += bytes;
        dst->size -= bytes;
        if (dst->size == 0 && dst->control & ZDMA_INTR)
            count(c);
    }
    return true;
}

static void execute_element(struct channel *c)
{
    uint32_t command;

    fetch(&c->src);
    command = c->src.control >> 3 & 3;
    if (!deliver(c))
        return;
    if (command == CMD_STOP) {
        assert_int_equal(c->dst.size, 0);
        stop(c, IDLE, ZDMA_DMA_DONE);
    } else if (command == CMD_PAUSE) {
        stop(c, PAUSED, ZDMA_DMA_PAUSE);
    }
}

/* Write-only mode repeats a pattern of 16 bytes, here zeros. */
static void execute_fill(struct channel *c)
{
    const uint32_t bytes = *reg(c, ZDMA_DST_WORD2);
    uint8_t *data = (uint8_t *)(uintptr_t)pair_at(c, ZDMA_DST_WORD0);

    assert_true(bytes > 0 && bytes == *reg(c, ZDMA_SRC_WORD2));
    for (uint32_t i = ZDMA_PATTERN0; i <= ZDMA_PATTERN3; i += 4)
        assert_int_equal(*reg(c, i), 0);
    if (!answers(data, bytes, true)) {
        stop(c, ZDMA_STATE_ERROR, ZDMA_AXI_WR_DATA | ZDMA_DMA_DONE);
        return;
    }
    memset(data, 0, bytes);
    stop(c, IDLE, ZDMA_DMA_DONE);
}

static void pass(struct channel *c, uint32_t elements)
{
    for (uint32_t i = 0; i < elements && state(c) == ZDMA_STATE_BUSY; i++) {
        if (*reg(c, ZDMA_CTRL0) & ZDMA_SCATTER_GATHER)
            execute_element(c);
        else
            execute_fill(c);
    }
}

static void start(struct channel *c)
{
    assert_true(state(c) == IDLE || state(c) == ZDMA_STATE_ERROR);
    *reg(c, ZDMA_STATUS) = ZDMA_STATE_BUSY;
    *reg(c, ZDMA_CTRL2) = ZDMA_ENABLE;
    c->src = (struct side){.next = (uint32_t *)(uintptr_t)pair_at(c, ZDMA_SRC_START_LSB)};
    c->dst = (struct side){.next = (uint32_t *)(uintptr_t)pair_at(c, ZDMA_DST_START_LSB)};
    if (*reg(c, ZDMA_CTRL0) & ZDMA_SCATTER_GATHER) {
        __atomic_fetch_add(&lists, 1, __ATOMIC_RELAXED);
        if (watcher)
            watcher(c->src.next, c->dst.next);
    } else {
        assert_true(*reg(c, ZDMA_CTRL0) & ZDMA_WRITE_ONLY);
        __atomic_fetch_add(&fills, 1, __ATOMIC_RELAXED);
    }
}

static struct channel *take_bus(uint32_t channel)
{
    assert_true(channel < ZDMA_MODEL_CHANNELS);
    pthread_mutex_lock(&channels[channel].bus);
    return &channels[channel];
}

static void give_bus(struct channel *c)
{
    pthread_mutex_unlock(&c->bus);
}

void zdma_model_reset(void)
{
    for (uint32_t i = 0; i < ZDMA_MODEL_CHANNELS; i++) {
        struct channel *c = take_bus(i);

        memset(c->word, 0, sizeof(c->word));
        *reg(c, ZDMA_IMR) = ZDMA_ALL_INTERRUPTS;
        *reg(c, ZDMA_CTRL0) = ZDMA_OVER_FETCH;
        *reg(c, ZDMA_DATA_ATTR) = ZDMA_DATA_ATTR_RESET;
        c->pace = 1;
        c->ignore_start = false;
        give_bus(c);
    }
    poison.reads = poison.writes = false;
    lists = fills = 0;
    watcher = NULL;
}

uint32_t zdma_model_read(uint32_t channel, uint32_t offset)
{
    struct channel *c = take_bus(channel);
    uint32_t value;

    if (offset == ZDMA_ISR)
        pass(c, c->pace);
    value = *reg(c, offset);
    if (offset == ZDMA_DST_COUNT)
        *reg(c, offset) = 0;
    give_bus(c);
    return value;
}

void zdma_model_write(uint32_t channel, uint32_t offset, uint32_t value)
{
    struct channel *c = take_bus(channel);

    switch (offset) {
    case ZDMA_ISR:
        *reg(c, ZDMA_ISR) &= ~value;
        break;
    case ZDMA_IEN:
        *reg(c, ZDMA_IMR) &= ~value;
        break;
    case ZDMA_IDS:
        *reg(c, ZDMA_IMR) |= value & ZDMA_ALL_INTERRUPTS;
        break;
    case ZDMA_CTRL2:
        if (!(value & ZDMA_ENABLE))
            *reg(c, ZDMA_CTRL2) = 0;
        else if (!c->ignore_start)
            start(c);
        break;
    case ZDMA_IMR:
    case ZDMA_STATUS:
    case ZDMA_DST_COUNT:
        fail_msg("register 0x%x is read only", (unsigned)offset);
        break;
    default:
        /* Parameters must not change while a channel is enabled. */
        assert_true(state(c) != ZDMA_STATE_BUSY);
        *reg(c, offset) = value;
        if (offset == ZDMA_CTRL0 && value & ZDMA_CONT && state(c) == PAUSED &&
            !(*reg(c, ZDMA_CTRL2) & ZDMA_ENABLE))
            *reg(c, ZDMA_STATUS) = IDLE;
    }
    give_bus(c);
}

bool zdma_model_interrupt(uint32_t channel)
{
    struct channel *c = take_bus(channel);
    const bool high = *reg(c, ZDMA_ISR) & ~*reg(c, ZDMA_IMR);

    give_bus(c);
    return high;
}

void zdma_model_set_pace(uint32_t channel, uint32_t elements)
{
    struct channel *c = take_bus(channel);

    c->pace = elements;
    give_bus(c);
}

void zdma_model_run(uint32_t channel, uint32_t elements)
{
    struct channel *c = take_bus(channel);

    pass(c, elements);
    give_bus(c);
}

void zdma_model_poison(const void *address, uint32_t bytes, bool reads, bool writes)
{
    poison.address = (uintptr_t)address;
    poison.bytes = bytes;
    poison.reads = reads;
    poison.writes = writes;
}

void zdma_model_ignore_start(uint32_t channel, bool ignore)
{
    struct channel *c = take_bus(channel);

    c->ignore_start = ignore;
    give_bus(c);
}

uint32_t zdma_model_lists(void)
{
    return __atomic_load_n(&lists, __ATOMIC_RELAXED);
}

uint32_t zdma_model_fills(void)
{
    return __atomic_load_n(&fills, __ATOMIC_RELAXED);
}

void zdma_model_watch(void (*see)(const uint32_t *src, const uint32_t *dst))
{
    watcher = see;
}
