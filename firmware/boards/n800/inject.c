/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QEMU 7.2's model follows no links, uses the indices of the source for the destination, too, and
 * reports no errors. This file adds links, indices and errors: it starts a linked channel when the
 * channel before has ended, starts a block frame by frame if source and destination have different
 * indices, and ends a block before the row with a fault. The registers then have the values of a
 * channel that has stopped in this row; the interrupt of an error is the model's interrupt of a
 * block of one word.
 */
#include "firmware/boards/n800/inject.h"

#include "firmware/board.h"
#include "firmware/boards/n800/memory_map.h"
#include "libmli/port/omap/omap_engine.h"
#include "libmli/port/omap/omap_registers.h"

static struct {
    enum board_fault fault;
    uint32_t channel, after; /* of the engine; rows until the fault */
    bool active;             /* logical channel `number` has stopped in a block */
    bool error;              /* and its error is not cleared yet */
    bool stuck;              /* and it does not stop */
    uint32_t number, cdac;
} injected;

static uint32_t get(uint32_t offset)
{
    return *(volatile uint32_t *)(SDMA_BASE + offset);
}

static void set(uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)(SDMA_BASE + offset) = value;
}

static uint32_t offset_of(uint32_t number, enum omap_channel_register name)
{
    return OMAP_CHANNELS + number * OMAP_CHANNEL_BYTES + name;
}

/* One side of a block. Steps are in bytes. */
struct side {
    uint32_t mode, address, ei, element_step, frame_step;
};

/* The block in the registers of a logical channel. */
struct block {
    uint32_t number, ccr, cen, cfn, size;
    struct side src, dst;
};

static void read_side(const struct block *block, struct side *side, uint32_t ei, uint32_t fi)
{
    side->ei = side->mode == OMAP_MODE_DOUBLE ? ei & 0xffff : 1;
    side->element_step = side->mode == 0 ? 0 : block->size + (uint32_t)(int16_t)side->ei - 1;
    side->frame_step = block->cen * side->element_step;
    if (side->mode == OMAP_MODE_DOUBLE)
        side->frame_step = (block->cen - 1) * side->element_step + block->size + fi - 1;
}

static struct block read_block(uint32_t number, uint32_t ccr)
{
    struct block block = {
        .number = number,
        .ccr = ccr,
        .cen = get(offset_of(number, OMAP_CEN)),
        .cfn = get(offset_of(number, OMAP_CFN)),
        .size = 1u << (get(offset_of(number, OMAP_CSDP)) & 3),
        .src = {.mode = ccr >> OMAP_SRC_MODE_SHIFT & OMAP_MODE_MASK,
                .address = get(offset_of(number, OMAP_CSSA))},
        .dst = {.mode = ccr >> OMAP_DST_MODE_SHIFT & OMAP_MODE_MASK,
                .address = get(offset_of(number, OMAP_CDSA))},
    };

    read_side(&block, &block.src, get(offset_of(number, OMAP_CSEI)),
              get(offset_of(number, OMAP_CSFI)));
    read_side(&block, &block.dst, get(offset_of(number, OMAP_CDEI)),
              get(offset_of(number, OMAP_CDFI)));
    return block;
}

/* Returns the number of elements of a row: a frame, or an element. */
static uint32_t row_elements(const struct block *block)
{
    return block->src.ei != 1 || block->dst.ei != 1 ? 1 : block->cen;
}

/* Executes frames of a block with the only pair of indices that the model has: both sides have the
 * same indices, or one side has none. */
static void start(const struct block *block, const struct side *src, const struct side *dst,
                  uint32_t cen, uint32_t cfn)
{
    const struct side *indexed = src->mode == OMAP_MODE_DOUBLE ? src : dst;
    const uint32_t last = (block->cen - 1) * indexed->element_step + block->size - 1;
    const uint32_t modes = src->mode << OMAP_SRC_MODE_SHIFT | dst->mode << OMAP_DST_MODE_SHIFT;

    set(offset_of(block->number, OMAP_CEN), cen);
    set(offset_of(block->number, OMAP_CFN), cfn);
    set(offset_of(block->number, OMAP_CSSA), src->address);
    set(offset_of(block->number, OMAP_CDSA), dst->address);
    set(offset_of(block->number, OMAP_CSEI), indexed->ei);
    set(offset_of(block->number, OMAP_CSFI), indexed->frame_step - last);
    set(offset_of(block->number, OMAP_CCR),
        (block->ccr &
         ~(OMAP_MODE_MASK << OMAP_SRC_MODE_SHIFT | OMAP_MODE_MASK << OMAP_DST_MODE_SHIFT)) |
            modes | OMAP_ENABLE);
}

/* Returns a side that is `frames` frames and `elements` elements further. */
static struct side further(const struct side *side, uint32_t frames, uint32_t elements)
{
    struct side result = *side;

    result.address += frames * side->frame_step + elements * side->element_step;
    return result;
}

/* Executes a part of a frame, from its beginning. */
static void run_frame(const struct block *block, uint32_t frame, uint32_t elements)
{
    struct side src = further(&block->src, frame, 0), dst = further(&block->dst, frame, 0);

    if (src.mode == OMAP_MODE_DOUBLE && src.ei == 1)
        src.mode = OMAP_MODE_INCREMENT;
    if (dst.mode == OMAP_MODE_DOUBLE && dst.ei == 1)
        dst.mode = OMAP_MODE_INCREMENT;
    if (src.mode != OMAP_MODE_DOUBLE || dst.mode != OMAP_MODE_DOUBLE || src.ei == dst.ei) {
        start(block, &src, &dst, elements, 1);
        return;
    }
    for (uint32_t i = 0; i < elements; i++) {
        src = further(&block->src, frame, i);
        dst = further(&block->dst, frame, i);
        src.mode = dst.mode = OMAP_MODE_INCREMENT;
        start(block, &src, &dst, 1, 1);
    }
}

/* Executes the first rows of a block. */
static void run_rows(const struct block *block, uint32_t rows)
{
    const uint32_t elements = rows * row_elements(block);
    const uint32_t frames = elements / block->cen, part = elements % block->cen;
    const bool native =
        block->src.mode != OMAP_MODE_DOUBLE || block->dst.mode != OMAP_MODE_DOUBLE ||
        (block->src.ei == block->dst.ei && block->src.frame_step == block->dst.frame_step);

    if (native && frames > 0)
        start(block, &block->src, &block->dst, block->cen, frames);
    for (uint32_t i = 0; !native && i < frames; i++)
        run_frame(block, i, block->cen);
    if (part > 0)
        run_frame(block, frames, part);
}

/* Has the model raise the interrupt of a logical channel. */
static void raise_interrupt(uint32_t number)
{
    static uint32_t words[2];
    const struct block block = {.number = number, .cen = 1, .cfn = 1, .size = sizeof(words[0])};
    const struct side from = {.mode = OMAP_MODE_INCREMENT, .address = (uint32_t)&words[0]};
    const struct side to = {.mode = OMAP_MODE_INCREMENT, .address = (uint32_t)&words[1]};

    set(offset_of(number, OMAP_CSDP), 2);
    start(&block, &from, &to, 1, 1);
}

/* The logical channel has stopped after some rows of its block. */
static void fail(const struct block *block, uint32_t rows)
{
    const uint32_t elements = rows * row_elements(block);
    const struct side next = further(&block->dst, elements / block->cen, elements % block->cen);

    injected.active = true;
    injected.error = injected.fault == BOARD_FAULT_ERROR;
    injected.stuck = injected.fault == BOARD_FAULT_STUCK;
    injected.fault = BOARD_FAULT_NONE; /* one fault at a time */
    injected.number = block->number;
    injected.cdac = next.address;
    if (injected.error) {
        raise_interrupt(block->number);
    } else {
        set(offset_of(block->number, OMAP_CSR), OMAP_CAUSES_ALL);
        set(OMAP_IRQSTATUS_L0, 1u << block->number);
    }
}

/* Executes a logical channel and those that are linked to it. */
static void run(uint32_t number, uint32_t ccr)
{
    for (;;) {
        const struct block block = read_block(number, ccr);
        const uint32_t rows = block.cfn * block.cen / row_elements(&block);
        const uint32_t link = get(offset_of(number, OMAP_CLNK_CTRL));

        injected.active = injected.active && injected.number != number;
        if (injected.fault != BOARD_FAULT_NONE && omap_channel(number) == injected.channel) {
            if (injected.after < rows) {
                run_rows(&block, injected.after);
                fail(&block, injected.after);
                return;
            }
            injected.after -= rows;
        }
        run_rows(&block, rows);
        if (!(link & OMAP_LINK))
            return;
        number = link % OMAP_CHANNELS_ALL;
        ccr = get(offset_of(number, OMAP_CCR));
    }
}

uint32_t inject_read(uint32_t offset)
{
    const uint32_t value = get(offset);

    if (!injected.active)
        return value;
    if (offset == offset_of(injected.number, OMAP_CCR))
        return injected.stuck ? value | OMAP_ENABLE : value;
    if (offset == offset_of(injected.number, OMAP_CSR))
        return (value & ~OMAP_BLOCK) | (injected.error ? OMAP_TRANSFER_ERROR : 0);
    return offset == offset_of(injected.number, OMAP_CDAC) ? injected.cdac : value;
}

void inject_write(uint32_t offset, uint32_t value)
{
    const uint32_t number = (offset - OMAP_CHANNELS) / OMAP_CHANNEL_BYTES;

    if (injected.active && offset == offset_of(injected.number, OMAP_CSR))
        injected.error &= !(value & OMAP_TRANSFER_ERROR);
    if (injected.active && offset == offset_of(injected.number, OMAP_CCR))
        injected.stuck &= (value & OMAP_ENABLE) != 0;
    if (offset >= OMAP_CHANNELS && offset == offset_of(number, OMAP_CCR) && value & OMAP_ENABLE)
        run(number, value & ~OMAP_ENABLE);
    else
        set(offset, value);
}

bool board_inject(enum board_fault fault, uint32_t channel, uint32_t after)
{
    injected.fault = fault;
    injected.channel = channel;
    injected.after = after;
    injected.active = injected.stuck = false;
    return true;
}
