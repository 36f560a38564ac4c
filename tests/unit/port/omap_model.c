/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/port/omap_model.h"

#include <string.h>

#include "libmli/port/omap/omap_registers.h"
#include "tests/unit/port/bus_windows.h"
#include "tests/unit/port/chain_scenes.h"

enum { CHANNELS = OMAP_CHANNELS_ALL, PACE = 16, WORDS = OMAP_CHANNEL_BYTES / 4 };

#define CHANNELS_OF_ENGINE (UINT32_MAX << OMAP_MODEL_FIRST)
#define KNOWN_CCR                                                                                  \
    (OMAP_ENABLE | OMAP_MODE_MASK << OMAP_SRC_MODE_SHIFT | OMAP_MODE_MASK << OMAP_DST_MODE_SHIFT | \
     OMAP_CONSTANT_FILL)
#define ACTIVE (OMAP_RD_ACTIVE | OMAP_WR_ACTIVE)

static struct channel {
    uint32_t words[WORDS]; /* the registers */
    uint32_t frame, element;
    uint32_t source;    /* address of the next read */
    uint8_t fifo[4];    /* the element that is read, */
    bool full;          /* and not written */
    bool failed;        /* the next step stops the channel after an error */
    uint32_t follow_up; /* the next step enables this channel; 0: none */
} channels[CHANNELS];

struct omap_model omap_model;

static uint32_t status, enabled; /* IRQSTATUS_L0, IRQENABLE_L0 */
static uint32_t busy;            /* channels that have something to do */
static const char *complaint;

static void complain(const char *what)
{
    if (!complaint)
        complaint = what;
}

const char *omap_model_complaint(void)
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

static uint32_t *reg(struct channel *c, enum omap_channel_register name)
{
    return &c->words[name / 4];
}

static uint32_t size_of(struct channel *c)
{
    return 1u << (*reg(c, OMAP_CSDP) & 3);
}

static uint32_t mode_of(struct channel *c, uint32_t shift)
{
    return *reg(c, OMAP_CCR) >> shift & OMAP_MODE_MASK;
}

/* Returns the address after an access: the index counts from the last byte of the element. */
static uint32_t advance(struct channel *c, uint32_t address, uint32_t mode, bool last, uint32_t ei,
                        uint32_t fi)
{
    if (mode == OMAP_MODE_INCREMENT)
        return address + size_of(c);
    return address + size_of(c) - 1 + (last ? fi : (uint32_t)(int16_t)ei);
}

static void check_side(struct channel *c, uint32_t mode, uint32_t address, uint32_t packed)
{
    if (address % size_of(c) != 0)
        complain("a misaligned address");
    if (mode != OMAP_MODE_INCREMENT && mode != OMAP_MODE_DOUBLE)
        complain("another addressing mode");
    if (mode != OMAP_MODE_INCREMENT && *reg(c, OMAP_CSDP) & packed)
        complain("packed elements that are not contiguous");
}

static void check_block(struct channel *c)
{
    const uint32_t cen = *reg(c, OMAP_CEN), cfn = *reg(c, OMAP_CFN);

    if (cen == 0 || cen > OMAP_ELEMENTS_MAX || cfn == 0 || cfn > OMAP_FRAMES_MAX)
        complain("a bad count");
    if ((*reg(c, OMAP_CSDP) & 3) == 3 || *reg(c, OMAP_CCR) & ~(KNOWN_CCR | ACTIVE))
        complain("bad bits in CSDP or CCR");
    if (*reg(c, OMAP_CSEI) > 0xffff || *reg(c, OMAP_CDEI) > 0xffff)
        complain("an index of more than 16 bits");
    check_side(c, mode_of(c, OMAP_DST_MODE_SHIFT), *reg(c, OMAP_CDSA),
               OMAP_DST_PACKED | OMAP_DST_BURST_64);
    if (!(*reg(c, OMAP_CCR) & OMAP_CONSTANT_FILL))
        check_side(c, mode_of(c, OMAP_SRC_MODE_SHIFT), *reg(c, OMAP_CSSA),
                   OMAP_SRC_PACKED | OMAP_SRC_BURST_64);
    else if (*reg(c, OMAP_COLOR) != 0)
        complain("a fill that is not zero");
}

static void begin(struct channel *c)
{
    busy |= 1u << (c - channels);
    check_block(c);
    if (*reg(c, OMAP_CSR) & OMAP_CAUSES_ALL)
        complain("a start with causes that are not cleared");
    *reg(c, OMAP_CCR) |= OMAP_ENABLE | ACTIVE;
    c->frame = c->element = 0;
    c->full = c->failed = false;
    c->source = *reg(c, OMAP_CSSA);
    *reg(c, OMAP_CDAC) = *reg(c, OMAP_CDSA);
}

/* Sets a bit of CSR, and raises the interrupt, if it is enabled in CICR. */
static void cause(struct channel *c, uint32_t bit)
{
    if (!(*reg(c, OMAP_CICR) & bit))
        return;
    *reg(c, OMAP_CSR) |= bit;
    status |= 1u << (c - channels);
}

static void halt(struct channel *c)
{
    *reg(c, OMAP_CCR) &= ~(OMAP_ENABLE | ACTIVE);
}

static void end_block(struct channel *c)
{
    halt(c);
    cause(c, OMAP_BLOCK);
    omap_model.blocks++;
    if (*reg(c, OMAP_CLNK_CTRL) & OMAP_LINK)
        c->follow_up = *reg(c, OMAP_CLNK_CTRL) % CHANNELS;
}

static bool is_last_element(struct channel *c)
{
    return c->element + 1 == *reg(c, OMAP_CEN);
}

static void read_element(struct channel *c)
{
    c->full = true;
    memset(c->fifo, 0, sizeof(c->fifo));
    if (*reg(c, OMAP_CCR) & OMAP_CONSTANT_FILL)
        return;
    if (c->source % size_of(c) != 0)
        complain("a misaligned source");
    memcpy(c->fifo, bus_windows_memory(c->source), size_of(c));
    c->source = advance(c, c->source, mode_of(c, OMAP_SRC_MODE_SHIFT), is_last_element(c),
                        *reg(c, OMAP_CSEI), *reg(c, OMAP_CSFI));
}

static void write_element(struct channel *c)
{
    uint32_t *cdac = reg(c, OMAP_CDAC);
    uint8_t *to = bus_windows_memory(*cdac);

    if (*cdac % size_of(c) != 0)
        complain("a misaligned destination");
    c->full = false;
    if (omap_model.fail_at >= to && omap_model.fail_at < to + size_of(c)) {
        c->failed = true;
        return;
    }
    memcpy(to, c->fifo, size_of(c));
    *cdac = advance(c, *cdac, mode_of(c, OMAP_DST_MODE_SHIFT), is_last_element(c),
                    *reg(c, OMAP_CDEI), *reg(c, OMAP_CDFI));
    if (!is_last_element(c)) {
        c->element++;
        return;
    }
    c->element = 0;
    if (++c->frame == *reg(c, OMAP_CFN))
        end_block(c);
}

/* Reads an element, writes it, or follows a link. A channel that is disabled writes its element. */
static void step(struct channel *c)
{
    if (omap_model.stuck)
        return;
    if (c->follow_up) {
        begin(&channels[c->follow_up]);
        c->follow_up = 0;
        omap_model.links++;
    }
    if (!(*reg(c, OMAP_CCR) & ACTIVE)) {
        busy &= ~(1u << (c - channels));
        return;
    }
    if (c->failed || (!c->full && !(*reg(c, OMAP_CCR) & OMAP_ENABLE))) {
        halt(c);
        if (c->failed)
            cause(c, OMAP_TRANSFER_ERROR);
    } else if (c->full) {
        write_element(c);
    } else {
        read_element(c);
    }
}

static void pass(uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        for (uint32_t left = busy; left != 0; left &= left - 1)
            step(&channels[__builtin_ctz(left)]);
    }
}

static uint32_t read_register(uint32_t offset)
{
    const uint32_t number = (offset - OMAP_CHANNELS) / OMAP_CHANNEL_BYTES;

    if (offset == OMAP_IRQSTATUS_L0)
        return status;
    if (offset == OMAP_IRQENABLE_L0)
        return enabled;
    if (offset < OMAP_CHANNELS || number >= CHANNELS) {
        complain("a read of another register");
        return 0;
    }
    offset = (offset - OMAP_CHANNELS) % OMAP_CHANNEL_BYTES;
    if (offset == OMAP_CCR)
        pass(omap_model.pace);
    return channels[number].words[offset / 4];
}

static void write_ccr(struct channel *c, uint32_t value)
{
    uint32_t *ccr = reg(c, OMAP_CCR);

    if (!(value & OMAP_ENABLE)) {
        *ccr = value | (*ccr & ACTIVE); /* a channel that runs stops after its element */
        return;
    }
    if (*ccr & (OMAP_ENABLE | ACTIVE))
        complain("a start of a channel that is active");
    *ccr = value;
    begin(c);
}

static void write_channel(struct channel *c, uint32_t offset, uint32_t value)
{
    const bool active = *reg(c, OMAP_CCR) & (OMAP_ENABLE | ACTIVE);

    if (!(CHANNELS_OF_ENGINE >> (c - channels) & 1))
        complain("a write to a channel that is not the engine's");
    if (offset == OMAP_CCR)
        write_ccr(c, value);
    else if (offset == OMAP_CSR)
        *reg(c, OMAP_CSR) &= ~value;
    else if (active && offset != OMAP_CLNK_CTRL)
        complain("a write of a register of a channel that is active");
    else
        c->words[offset / 4] = value;
}

static void write_register(uint32_t offset, uint32_t value)
{
    const uint32_t number = (offset - OMAP_CHANNELS) / OMAP_CHANNEL_BYTES;

    if (offset == OMAP_IRQSTATUS_L0)
        status &= ~value;
    else if (offset == OMAP_IRQENABLE_L0)
        enabled = value;
    else if (offset < OMAP_CHANNELS || number >= CHANNELS)
        complain("a write of another register");
    else
        write_channel(&channels[number], (offset - OMAP_CHANNELS) % OMAP_CHANNEL_BYTES, value);
}

void omap_model_run(uint32_t steps)
{
    pass(steps);
    if (!(status & enabled))
        return;
    omap_model.handled++;
    omap_interrupt();
    if (!omap_model.pace && status & enabled)
        complain("an interrupt that the handler does not silence");
}

void omap_model_start_elsewhere(uint32_t number)
{
    *reg(&channels[number], OMAP_CCR) |= OMAP_ENABLE;
}

void omap_model_reset(void)
{
    static const struct omap_platform platform = {.channels = CHANNELS_OF_ENGINE,
                                                  .interrupts = true,
                                                  .read = read_register,
                                                  .write = write_register};
    static const struct mli_platform addresses = {.size = sizeof(addresses),
                                                  .bus_address = bus_address};

    memset(channels, 0, sizeof(channels));
    bus_windows_reset();
    omap_model = (struct omap_model){.pace = PACE};
    status = enabled = busy = 0;
    complaint = NULL;
    (void)mli_mov_set_platform(&addresses);
    omap_set_platform(&platform);
}

const struct chain_model chain_model = {
    .engine = &omap_engine,
    .polled = "omap:interrupt=0,run=0,piece=0",
    .interrupts = "omap:interrupt=1,run=0,piece=0",
    .cancel_step = 1,
    .pace = &omap_model.pace,
    .handled = &omap_model.handled,
    .fail_at = &omap_model.fail_at,
    .reset = omap_model_reset,
    .run = omap_model_run,
    .complaint = omap_model_complaint,
};
