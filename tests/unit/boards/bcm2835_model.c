/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/boards/bcm2835_model.h"

#include <string.h>

#include "boards/drivers/bcm2835.h"
#include "tests/unit/boards/bus_windows.h"

enum {
    NUMBERS = 16,
    FIRST_LITE = 7,
    STEP_MAX = 32,
    WRITES_MAX = 13, /* a channel with this many unanswered writes waits */
    READ_ERROR = 4,
    PACE = 16
};

/* A write that memory has not received. */
struct write {
    uint32_t address, bytes;
    uint8_t data[STEP_MAX];
};

struct channel {
    uint32_t conblk;
    bool active, end, interrupt, counts, paused, loaded;
    bool responding; /* no bytes of the block are left, but some writes have no response yet */
    uint32_t debug;  /* errors */
    struct bcm2835_block block;
    uint32_t x; /* remaining bytes of the row */
    struct write writes[WRITES_MAX];
    uint32_t outstanding;
};

struct bcm2835_model bcm2835_model;

static struct channel channels[NUMBERS];
static uint32_t enabled, masked;
static const struct channel *handling; /* the channel whose interrupt is being handled */
static const char *complaint;

static struct {
    const uint8_t *at;
    size_t bytes;
} poison;

static void complain(const char *what)
{
    if (!complaint)
        complaint = what;
}

const char *bcm2835_model_complaint(void)
{
    return complaint;
}

void bcm2835_model_poison(const void *memory, size_t bytes)
{
    poison.at = memory;
    poison.bytes = bytes;
}

static uint64_t bus_address(const void *memory)
{
    uint64_t bus;

    if (!bus_windows_address(memory, &bus))
        complain("memory in too many windows");
    return bus + (bcm2835_model.far ? UINT64_C(1) << 32 : 0);
}

static bool is_lite(uint32_t number)
{
    return number >= FIRST_LITE;
}

static bool is_rectangle(const struct channel *c)
{
    return c->block.ti & BCM2835_TI_TDMODE;
}

static void check_block(uint32_t number)
{
    const struct bcm2835_block *b = &channels[number].block;

    if (is_lite(number) && (b->ti & BCM2835_TI_TDMODE || b->txfr_len > 0xffff || b->stride))
        complain("a lite channel has no rectangles, and 16 bits for a length");
    if (b->txfr_len >> 30 || !(b->txfr_len & (b->ti & BCM2835_TI_TDMODE ? 0xffff : UINT32_MAX)))
        complain("no bytes, or too many");
    if (b->nextconbk % sizeof(*b) || b->zero[0] || b->zero[1])
        complain("a bad control block");
    if (!(b->ti & BCM2835_TI_DEST_INC))
        complain("a destination that does not advance");
}

static void load_block(uint32_t number)
{
    struct channel *c = &channels[number];

    memcpy(&c->block, bus_windows_memory(c->conblk), sizeof(c->block));
    check_block(number);
    c->loaded = true;
    c->x = is_rectangle(c) ? c->block.txfr_len & 0xffff : c->block.txfr_len;
    bcm2835_model.blocks++;
    bcm2835_model.rectangles += is_rectangle(c);
}

/* Memory receives the oldest write. */
static void respond(struct channel *c)
{
    const struct write *w = &c->writes[0];

    memcpy(bus_windows_memory(w->address), w->data, w->bytes);
    memmove(c->writes, c->writes + 1, --c->outstanding * sizeof(c->writes[0]));
}

static bool is_poisoned(const uint8_t *at, uint32_t bytes)
{
    return poison.bytes > 0 && at < poison.at + poison.bytes && poison.at < at + bytes;
}

/* Sets TXFR_LEN to the remaining bytes, and at the end of a row both addresses to the next row. */
static void advance(struct channel *c, uint32_t bytes)
{
    struct bcm2835_block *b = &c->block;

    b->dest_ad += bytes;
    b->source_ad += b->ti & BCM2835_TI_SRC_INC ? bytes : 0;
    c->x -= bytes;
    if (!is_rectangle(c)) {
        b->txfr_len = c->x;
    } else if (c->x > 0 || b->txfr_len >> 16 == 0) {
        b->txfr_len = (b->txfr_len & ~0xffffu) | c->x;
    } else {
        const struct bcm2835_block *begin = (const void *)bus_windows_memory(c->conblk);

        b->source_ad += (uint32_t)(int16_t)(b->stride & 0xffff);
        b->dest_ad += (uint32_t)((int32_t)b->stride >> 16);
        c->x = begin->txfr_len & 0xffff;
        b->txfr_len = ((b->txfr_len >> 16) - 1) << 16 | c->x;
    }
}

/* Moves some bytes. Returns false after a bus error. */
static bool move(struct channel *c)
{
    struct write *w = &c->writes[c->outstanding];
    const uint32_t bytes = c->x < bcm2835_model.step_bytes ? c->x : bcm2835_model.step_bytes;
    const uint8_t *from = bus_windows_memory(c->block.source_ad);

    if (is_poisoned(from, bytes)) {
        c->debug |= READ_ERROR;
        c->active = false;
        c->interrupt = true;
        return false;
    }
    *w = (struct write){.address = c->block.dest_ad, .bytes = bytes};
    memcpy(w->data, from, bytes);
    c->outstanding++;
    advance(c, bytes);
    return true;
}

/* The block has no bytes left: loads the address of the next one. */
static void end_block(struct channel *c)
{
    if (!c->responding) {
        c->conblk = c->block.nextconbk;
        c->active = c->active && c->conblk != 0;
    }
    c->responding = c->counts && c->outstanding > 0;
    if (c->responding)
        return;
    c->loaded = false;
    c->end = true;
    c->interrupt |= c->block.ti & BCM2835_TI_INTEN;
}

static void step(uint32_t number)
{
    struct channel *c = &channels[number];

    if (bcm2835_model.hung)
        return;
    /* Responses come late, even while a channel is paused. */
    if (c->outstanding == WRITES_MAX || c->responding || !c->active) {
        if (c->outstanding > 0)
            respond(c);
    }
    c->paused = !c->active;
    if (c->responding) {
        end_block(c);
        return;
    }
    if (!c->active || c->conblk == 0 || bcm2835_model.stalled || c->debug ||
        !(enabled >> number & 1))
        return;
    if (!c->loaded)
        load_block(number);
    if (c->outstanding < WRITES_MAX && move(c) && c->x == 0)
        end_block(c);
}

static void let_time_pass(uint32_t steps)
{
    while (steps-- > 0) {
        for (uint32_t number = 0; number < NUMBERS; number++)
            step(number);
    }
}

static uint32_t read_cs(const struct channel *c)
{
    return (c->active ? BCM2835_CS_ACTIVE : 0) | (c->end ? BCM2835_CS_END : 0) |
           (c->interrupt ? BCM2835_CS_INT : 0) | (c->paused ? BCM2835_CS_PAUSED : 0) |
           (c->responding ? BCM2835_CS_WAITING : 0) | (c->debug ? BCM2835_CS_ERROR : 0);
}

static uint32_t read_register(uint32_t offset)
{
    const uint32_t number = offset / BCM2835_CHANNEL_BYTES % NUMBERS;
    const struct channel *c = &channels[number];

    if (offset == BCM2835_ENABLE)
        return enabled;
    switch (offset % BCM2835_CHANNEL_BYTES) {
    case BCM2835_CS:
        if (c == handling && c->interrupt && !(masked >> number & 1))
            complain("an interrupt that is not silenced before the poll");
        let_time_pass(bcm2835_model.pace);
        return read_cs(c);
    case BCM2835_CONBLK_AD:
        return c->conblk;
    case BCM2835_DEST_AD:
        return c->block.dest_ad;
    case BCM2835_TXFR_LEN:
        return c->block.txfr_len;
    case BCM2835_DEBUG:
        return c->debug | c->outstanding << BCM2835_DEBUG_WRITES_SHIFT;
    default:
        complain("a read of another register");
        return 0;
    }
}

static void reset_channel(struct channel *c)
{
    if (c->outstanding > 0 && !bcm2835_model.hung)
        complain("a reset of a channel with writes without a response");
    *c = (struct channel){.debug = c->debug}; /* a write to DEBUG clears the errors */
}

static void write_cs(struct channel *c, uint32_t value)
{
    if (value & BCM2835_CS_RESET) {
        reset_channel(c);
        return;
    }
    c->end &= !(value & BCM2835_CS_END);
    c->interrupt &= !(value & BCM2835_CS_INT);
    c->counts = value & BCM2835_CS_COUNT_WRITES;
    if (value & BCM2835_CS_ACTIVE && (c->active || c->loaded || c->outstanding))
        complain("a start of a channel that is not idle");
    if (value & BCM2835_CS_ACTIVE && c->debug)
        complain("a start of a channel with an error");
    bcm2835_model.chains += value & BCM2835_CS_ACTIVE;
    if (bcm2835_model.hung && c->active)
        return;
    c->active = value & BCM2835_CS_ACTIVE && c->conblk != 0;
}

static void write_register(uint32_t offset, uint32_t value)
{
    struct channel *c = &channels[offset / BCM2835_CHANNEL_BYTES % NUMBERS];

    if (offset == BCM2835_ENABLE) {
        enabled = value;
        return;
    }
    switch (offset % BCM2835_CHANNEL_BYTES) {
    case BCM2835_CS:
        write_cs(c, value);
        break;
    case BCM2835_CONBLK_AD:
        if (value % sizeof(struct bcm2835_block) || c->active)
            complain("a bad address of a control block");
        c->conblk = value;
        break;
    case BCM2835_DEBUG:
        c->debug &= ~value;
        break;
    default:
        complain("a write of another register");
    }
}

static void mask(uint32_t number, bool is_masked)
{
    masked = is_masked ? masked | 1u << number : masked & ~(1u << number);
}

void bcm2835_model_start_elsewhere(uint32_t number)
{
    channels[number].active = true;
}

void bcm2835_model_run(uint32_t steps)
{
    let_time_pass(steps);
    for (uint32_t number = 0; number < NUMBERS && bcm2835_model.interrupts; number++) {
        if (!channels[number].interrupt || masked >> number & 1)
            continue;
        bcm2835_model.handled++;
        handling = &channels[number];
        bcm2835_interrupt(number);
        handling = NULL;
        if (channels[number].interrupt && !(masked >> number & 1))
            complain("an interrupt that the handler does not silence");
    }
}

void bcm2835_model_reset(void)
{
    static const struct bcm2835_platform platform = {
        .channels = BCM2835_MODEL_NUMBERS,
        .mask = mask,
        .read = read_register,
        .write = write_register,
    };
    static const struct mli_platform addresses = {.size = sizeof(addresses),
                                                  .bus_address = bus_address};

    memset(channels, 0, sizeof(channels));
    bus_windows_reset();
    bcm2835_model = (struct bcm2835_model){.pace = PACE, .step_bytes = STEP_MAX};
    enabled = 0;
    masked = UINT32_MAX;
    complaint = NULL;
    bcm2835_model_poison(NULL, 0);
    (void)mli_mov_set_platform(&addresses);
    bcm2835_set_platform(&platform);
}
