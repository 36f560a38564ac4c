/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcom BCM2835 DMA: a chain of control blocks, linear or 2-D. Sources: "BCM2835 ARM
 * Peripherals" and "BCM2711 ARM Peripherals", chapter DMA; drivers and QEMU for YLENGTH, which
 * holds the rows minus 1.
 *
 * Not modelled, and refused: peripherals, ignored sources and destinations. A source that does not
 * advance is a word of 4 bytes here, so that addresses and lengths must be multiples of 4; no
 * document describes other accesses.
 */
#include <inttypes.h>

#include "tests/target/decoder.h"

/* Bits of the transfer information. */
enum {
    TI_2D = 1 << 1,
    TI_DEST_INC = 1 << 4,
    TI_DEST_WIDE = 1 << 5,
    TI_SRC_INC = 1 << 8,
    TI_SRC_WIDE = 1 << 9,
    TI_NOT_MODELLED = 1 << 6 | 1 << 7 | 1 << 10 | 1 << 11 | 0x1f << 16,
};
#define TI_RESERVED (UINT32_C(0x1f) << 27 | 1 << 2)

enum { WORD_BYTES = 4, LITE_MAX = 65535 };

struct block {
    uint32_t info;
    uint64_t src, dst, width, rows;
    int64_t src_stride, dst_stride; /* from the end of one row to the beginning of the next row */
    uint32_t next;
};

static bool is_lite(const struct board *board)
{
    return board->profile->dma.loops == 0;
}

static bool bad(struct board *board, uint64_t at, const char *what)
{
    return board_fail(board, "control block at 0x%" PRIx64 ": %s", at, what);
}

static bool block_read(struct board *board, uint64_t at, struct block *b)
{
    uint32_t word[8];

    for (size_t i = 0; i < 8; i++)
        word[i] = (uint32_t)board_number(board, at + WORD_BYTES * i, WORD_BYTES);
    if (at % 32 != 0)
        return bad(board, at, "misaligned");
    if (word[0] & TI_RESERVED || bits_of(word[3], 31, 30) || word[6] || word[7])
        return bad(board, at, "reserved bits");
    *b = (struct block){.info = word[0],
                        .src = word[1],
                        .dst = word[2],
                        .width = word[3],
                        .rows = 1,
                        .next = word[5]};
    if (word[0] & TI_2D) {
        b->width = bits_of(word[3], 15, 0);
        b->rows = bits_of(word[3], 29, 16) + 1;
        b->src_stride = (int16_t)bits_of(word[4], 15, 0);
        b->dst_stride = (int16_t)bits_of(word[4], 31, 16);
    } else if (word[4] != 0) {
        return bad(board, at, "a linear block with strides");
    }
    return board->fault[0] == '\0';
}

static bool block_check(struct board *board, uint64_t at, const struct block *b)
{
    const bool fixed = !(b->info & TI_SRC_INC);

    if (b->info & TI_NOT_MODELLED)
        return bad(board, at, "uses a peripheral, or ignores a side");
    if (!(b->info & TI_DEST_INC))
        return bad(board, at, "the destination does not advance");
    if (b->width == 0)
        return bad(board, at, "length 0");
    if (is_lite(board) && (b->info & TI_2D || b->width > LITE_MAX))
        return bad(board, at, "more than a LITE channel can do");
    if (fixed && b->info & TI_SRC_WIDE)
        return bad(board, at, "a fixed source that is wide");
    if (fixed && (b->src | b->dst | b->width | (uint64_t)b->src_stride | (uint64_t)b->dst_stride) %
                         WORD_BYTES !=
                     0)
        return bad(board, at, "a fixed source, and not words of 4 bytes");
    return true;
}

static bool repeat_word(struct board *board, uint64_t src, uint64_t dst, uint64_t width)
{
    for (uint64_t i = 0; i < width; i += WORD_BYTES)
        if (!board_copy(board, src, dst + i, WORD_BYTES))
            return false;
    return true;
}

static bool block_execute(struct board *board, const struct block *b)
{
    const bool fixed = !(b->info & TI_SRC_INC);
    uint64_t src = b->src, dst = b->dst;

    for (uint64_t r = 0; r < b->rows; r++) {
        if (!(fixed ? repeat_word(board, src, dst, b->width)
                    : board_copy(board, src, dst, b->width)))
            return false;
        src += (fixed ? 0 : b->width) + (uint64_t)b->src_stride;
        dst += b->width + (uint64_t)b->dst_stride;
    }
    return true;
}

static bool chain(struct board *board, uint64_t first, uint64_t *executed)
{
    struct block b = {.next = (uint32_t)first};

    *executed = 0;
    if (first == 0 || first > UINT32_MAX)
        return board_fail(board, "the first control block is at 0x%" PRIx64, first);
    while (b.next != 0) {
        const uint64_t at = b.next;

        ++*executed;
        if (!block_read(board, at, &b) || !block_check(board, at, &b) || !block_execute(board, &b))
            return false;
    }
    return true;
}

const struct decoder decode_bcm2835 = {.kind = PROFILE_BCM2835, .name = "bcm2835", .chain = chain};
