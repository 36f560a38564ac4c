/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AMD AI Engine-ML (AIE2): buffer descriptors (BD) of the DMA engines in tiles, memory tiles and
 * the shim. A BD describes one side: one channel reads memory into a stream (MM2S), another one
 * writes the stream to memory (S2MM). Sources: AMD AM025 (DMA_BD registers), as mlir-aie and aie-rt
 * use it.
 *
 * Not modelled, and refused: packets, compression, locks, tasks of several BDs.
 */
#include <inttypes.h>

#include "tests/target/decoder.h"

enum { DIMS = 4, WORD = 4, BD_WORDS = 8, BD_BYTES = BD_WORDS * WORD };

/* One side of a transfer, in 32-bit words except for `base`. */
struct side {
    uint64_t base;       /* byte address */
    uint64_t length;     /* number of words of the stream, zeros of the padding included */
    uint64_t step[DIMS]; /* 1 .. */
    uint64_t wrap[DIMS]; /* 0: the dimension does not wrap, and the next dimensions are not used.
                            The last dimension never wraps */
    uint64_t before[DIMS], after[DIMS]; /* zeros around a dimension */
    bool valid, chained, odd;           /* true: the BD uses a feature that is not modelled */
};

/* The next element to transfer, as coordinates of the dimensions. */
struct cursor {
    const struct side *side;
    uint64_t at[DIMS]; /* the zeros before are counted */
};

static struct side side_of(const uint32_t w[BD_WORDS])
{
    return (struct side){
        .base = WORD * bits_of(w[1], 18, 0),
        .length = bits_of(w[0], 16, 0),
        .step = {bits_of(w[2], 16, 0) + 1, bits_of(w[3], 16, 0) + 1, bits_of(w[4], 16, 0) + 1,
                 bits_of(w[5], 16, 0) + 1},
        .wrap = {bits_of(w[2], 26, 17), bits_of(w[3], 26, 17), bits_of(w[4], 26, 17)},
        .before = {bits_of(w[1], 31, 26), bits_of(w[3], 31, 27), bits_of(w[4], 30, 27)},
        .after = {bits_of(w[5], 22, 17), bits_of(w[5], 27, 23), bits_of(w[5], 31, 28)},
        .valid = bits_of(w[7], 31, 31),
        .chained = bits_of(w[1], 19, 19),
        .odd = bits_of(w[0], 31, 17) || bits_of(w[1], 25, 20) || bits_of(w[2], 31, 27) ||
               bits_of(w[4], 31, 31) || w[6] || bits_of(w[7], 30, 0),
    };
}

/* Checks a side of a transfer: for example, a dimension with zeros around it must wrap. */
static bool side_check(struct board *board, const struct side *side, const char *name, bool reads)
{
    bool wraps = true;

    if (!side->valid)
        return board_fail(board, "%s: the BD is not valid", name);
    if (side->chained)
        return board_fail(board, "%s: the BD has a next one", name);
    if (side->odd)
        return board_fail(board, "%s: bits of the BD that must be 0", name);
    if (side->length == 0)
        return board_fail(board, "%s: length 0", name);
    for (uint32_t d = 0; d < DIMS; d++) {
        const bool pads = side->before[d] || side->after[d];

        if (pads && !reads)
            return board_fail(board, "%s: zeros in a write", name);
        if ((pads && !wraps) || (side->after[d] && side->wrap[d] == 0))
            return board_fail(board, "%s: zeros around a dimension that does not wrap", name);
        if (d > 0 && !wraps && (side->wrap[d] || side->step[d] != 1))
            return board_fail(board, "%s: dimension %" PRIu32 " is beyond one that does not wrap",
                              name, d);
        wraps = wraps && side->wrap[d] > 0;
    }
    return true;
}

/* Returns whether the word at the cursor is a zero around a dimension; if not, *address is its
 * address. */
static bool cursor_is_zero(const struct cursor *c, uint64_t *address)
{
    const struct side *side = c->side;

    *address = side->base;
    for (uint32_t d = 0; d < DIMS; d++) {
        const uint64_t index = c->at[d] - side->before[d];

        if (c->at[d] < side->before[d] || (side->wrap[d] > 0 && index >= side->wrap[d]))
            return true;
        *address += WORD * index * side->step[d];
    }
    return false;
}

static void cursor_advance(struct cursor *c)
{
    const struct side *side = c->side;

    for (uint32_t d = 0; d < DIMS; d++) {
        c->at[d]++;
        if (side->wrap[d] == 0 || c->at[d] < side->before[d] + side->wrap[d] + side->after[d])
            return;
        c->at[d] = 0;
    }
}

/* Moves a stream from the source to the destination. */
static bool transfer(struct board *board, const struct side *from, const struct side *to)
{
    struct cursor read = {.side = from}, write = {.side = to};

    if (!side_check(board, from, "MM2S", true) || !side_check(board, to, "S2MM", false))
        return false;
    if (from->length != to->length)
        return board_fail(board, "MM2S of %" PRIu64 " words, S2MM of %" PRIu64, from->length,
                          to->length);
    for (uint64_t i = 0; i < from->length; i++) {
        uint64_t src, dst;
        const bool zero = cursor_is_zero(&read, &src);

        cursor_is_zero(&write, &dst);
        if (!(zero ? board_zero(board, dst, WORD) : board_copy(board, src, dst, WORD)))
            return false;
        cursor_advance(&read);
        cursor_advance(&write);
    }
    return true;
}

static struct side bd_read(const uint8_t bytes[BD_BYTES])
{
    uint32_t word[BD_WORDS];

    for (size_t i = 0; i < BD_WORDS; i++, bytes += WORD)
        word[i] = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                  (uint32_t)bytes[3] << 24;
    return side_of(word);
}

/* The BD of MM2S comes first, then the BD of S2MM. */
static bool one(struct board *board, const struct controller_descriptor *descriptor)
{
    struct side from, to;

    if (descriptor->size != 2 * BD_BYTES)
        return board_fail(board, "%zu bytes of BDs", descriptor->size);
    from = bd_read(descriptor->bytes);
    to = bd_read(descriptor->bytes + BD_BYTES);
    return transfer(board, &from, &to);
}

const struct decoder decode_aie2 = {.kind = PROFILE_AIE, .name = "aie2", .one = one};
