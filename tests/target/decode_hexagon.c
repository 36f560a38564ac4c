/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Qualcomm Hexagon user DMA. A chain of descriptors of 16 bytes (linear) or 32 bytes (rows).
 * Sources: clang's hexagon_types.h (hexagon_udma_descriptor_type0_s), and the descriptors of
 * apache/tvm, hexagon-mlir, llama.cpp and Qualcomm's QEMU.
 *
 * Not modelled, and refused: compression, transforms, gather, L2 fetch, a pitch of 0 or below the
 * width of a row. The "done" bit is not written back: programs under test compare all of memory.
 */
#include <inttypes.h>

#include "tests/target/decoder.h"

enum { LINEAR = 0, ROWS = 1 };
enum { TYPE_2D = 0, TYPE_FILL = 8, TYPE_WIDE = 9 };

struct rows {
    uint64_t width, height, src_pitch, dst_pitch;
    bool fill;
};

static bool linear(struct board *board, uint64_t at, const uint32_t word[8])
{
    const uint64_t length = bits_of(word[1], 23, 0);

    if (length == 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": length 0", at);
    return board_copy(board, word[2], word[3], length);
}

/* Reads the fields of a descriptor that moves rows. Their places depend on its type. */
static bool rows_read(struct board *board, uint64_t at, const uint32_t word[8], struct rows *rows)
{
    const uint64_t type = bits_of(word[4], 7, 0);

    *rows = (struct rows){.fill = type == TYPE_FILL};
    if (type == TYPE_WIDE) {
        if (bits_of(word[4], 31, 8) != 0)
            return board_fail(board, "descriptor at 0x%" PRIx64 ": reserved bits of word 4", at);
        rows->width = bits_of(word[5], 23, 0);
        rows->height = bits_of(word[5], 31, 24) | bits_of(word[6], 7, 0) << 8;
        rows->src_pitch = bits_of(word[6], 31, 8);
        rows->dst_pitch = bits_of(word[1], 23, 0);
    } else if (type == TYPE_2D || type == TYPE_FILL) {
        if (bits_of(word[1], 23, 0) != 0)
            return board_fail(board, "descriptor at 0x%" PRIx64 ": reserved bits of word 1", at);
        if (bits_of(word[4], 31, type == TYPE_FILL ? 16 : 8) != 0)
            return board_fail(board, "descriptor at 0x%" PRIx64 ": reserved bits of word 4", at);
        rows->width = bits_of(word[5], 15, 0);
        rows->height = bits_of(word[5], 31, 16);
        rows->src_pitch = bits_of(word[6], 15, 0);
        rows->dst_pitch = bits_of(word[6], 31, 16);
    } else {
        return board_fail(board, "descriptor at 0x%" PRIx64 ": type %" PRIu64, at, type);
    }
    if (word[7] != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": it begins within a row", at);
    return true;
}

static bool rows_check(struct board *board, uint64_t at, const struct rows *rows)
{
    if (rows->width == 0 || rows->height == 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": %" PRIu64 " rows of %" PRIu64, at,
                          rows->height, rows->width);
    if (rows->dst_pitch < rows->width)
        return board_fail(board,
                          "descriptor at 0x%" PRIx64 ": rows of %" PRIu64
                          " bytes at a pitch of %" PRIu64 " in the destination",
                          at, rows->width, rows->dst_pitch);
    if (rows->fill && rows->src_pitch != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": a fill with a source pitch", at);
    if (!rows->fill && rows->src_pitch < rows->width)
        return board_fail(board,
                          "descriptor at 0x%" PRIx64 ": rows of %" PRIu64
                          " bytes at a pitch of %" PRIu64 " in the source",
                          at, rows->width, rows->src_pitch);
    return true;
}

static bool fill_row(struct board *board, uint64_t at, const uint32_t word[8], uint64_t dst,
                     uint64_t width)
{
    if (bits_of(word[4], 15, 8) != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": a fill with other bytes than 0", at);
    return board_zero(board, dst, width);
}

static bool move_rows(struct board *board, uint64_t at, const uint32_t word[8])
{
    struct rows rows;

    if (!rows_read(board, at, word, &rows) || !rows_check(board, at, &rows))
        return false;
    if (rows.fill && !board->profile->dma.fills)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": the profile has no fills", at);
    for (uint64_t r = 0; r < rows.height; r++) {
        const uint64_t src = word[2] + r * rows.src_pitch, dst = word[3] + r * rows.dst_pitch;
        const bool moved = rows.fill ? fill_row(board, at, word, dst, rows.width)
                                     : board_copy(board, src, dst, rows.width);

        if (!moved)
            return false;
    }
    return true;
}

static bool descriptor(struct board *board, uint64_t at, uint64_t *next)
{
    uint32_t word[8] = {0};
    uint64_t size;

    for (size_t i = 0; i < 4; i++)
        word[i] = (uint32_t)board_number(board, at + 4 * i, 4);
    size = bits_of(word[1], 25, 24);
    if (size > ROWS)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": size %" PRIu64, at, size);
    if (at % (size == LINEAR ? 16 : 32) != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": misaligned", at);
    for (size_t i = 4; size == ROWS && i < 8; i++)
        word[i] = (uint32_t)board_number(board, at + 4 * i, 4);
    if (bits_of(word[0], 3, 0) != 0 || bits_of(word[1], 31, 31) != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": state bits are set", at);
    if (bits_of(word[1], 27, 26) != 0)
        return board_fail(board, "descriptor at 0x%" PRIx64 ": compression", at);
    *next = word[0];
    return board->fault[0] == '\0' &&
           (size == LINEAR ? linear(board, at, word) : move_rows(board, at, word));
}

static bool chain(struct board *board, uint64_t first, uint64_t *executed)
{
    *executed = 0;
    for (uint64_t at = first, next = 0; at != 0; at = next) {
        ++*executed;
        if (!descriptor(board, at, &next))
            return false;
    }
    return true;
}

const struct decoder decode_hexagon = {.kind = PROFILE_HEXAGON, .name = "hexagon", .chain = chain};
