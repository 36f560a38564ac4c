/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/board_remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "cli/explain/explained_board.h"

enum { ROWS_COMPARED = 4096 };

static const char *const words[] = {
#define REMARK_WORD(name, word, about_addresses) word,
    BOARD_REMARK_TABLE(REMARK_WORD)
#undef REMARK_WORD
};

static const bool addresses[] = {
#define REMARK_ADDRESSES(name, word, about_addresses) about_addresses,
    BOARD_REMARK_TABLE(REMARK_ADDRESSES)
#undef REMARK_ADDRESSES
};

static void remark(struct board_remarks *remarks, enum board_remark_kind kind, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

static void remark(struct board_remarks *remarks, enum board_remark_kind kind, const char *format,
                   ...)
{
    struct board_remark *next = &remarks->list[remarks->count++];
    va_list args;

    next->kind = kind;
    va_start(args, format);
    vsnprintf(next->text, sizeof next->text, format, args);
    va_end(args);
}

/* Returns whether a row of the tensor begins at an odd address. Elements have 1 byte. */
static bool has_odd_rows(uint64_t first, const mli_explanation *move, bool read)
{
    bool odd = first % 2 != 0;

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        const uint64_t stride = read ? axis->src_stride * axis->step : axis->dst_stride;
        const bool within_row = (read ? axis->src_stride : axis->dst_stride) == 1;

        odd |= axis->count > 1 && !within_row && stride % 2 != 0;
    }
    return odd;
}

/* "For the best performance vector load and store access for such data must use even byte
 * addresses" (ARC VPX Specific Details, on 8-bit elements). */
static void remark_on_addresses(struct board_remarks *remarks, const struct board_place *place,
                                const mli_explanation *move, bool read)
{
    const mli_byte_range *range = read ? &move->read : &move->written;

    if (move->elem == 1 && place->memory->vector && range->begin < range->end &&
        has_odd_rows(place->address + range->begin, move, read))
        remark(remarks, BOARD_REMARK_EVEN_ADDRESS,
               "%s: rows begin at odd addresses of %s, which is slower for 1-byte elements; use "
               "even shapes or strides",
               read ? "src" : "dst", place->memory->name);
}

static uint64_t bank_cycle(const struct profile_memory *memory)
{
    return (uint64_t)memory->banks * memory->bank_bytes;
}

static void remark_on_rows(struct board_remarks *remarks, const struct board_place *place,
                           const struct traffic *traffic, bool read)
{
    if (traffic->conflicts > 0)
        remark(remarks, BOARD_REMARK_BANK_CONFLICT,
               "%s: %" PRIu64 " of %" PRIu64
               " rows begin in the bank of the row before; a stride that is not a multiple of "
               "%" PRIu64 " B avoids that",
               read ? "src" : "dst", traffic->conflicts, traffic->rows, bank_cycle(place->memory));
}

static uint64_t bank_of(const struct profile_memory *memory, uint64_t address)
{
    return address % bank_cycle(memory) / memory->bank_bytes;
}

/* Returns the number of the first `rows` rows that begin in the same bank on both sides. */
static uint64_t count_same(const struct mli_copy_box *box, const struct profile_memory *memory,
                           uint64_t rows)
{
    uint64_t same = 0;

    for (uint64_t row = 0; row < rows; row++) {
        uint64_t src = (uintptr_t)box->src, dst = (uintptr_t)box->dst, rest = row;

        for (size_t i = box->loops; i-- > 0; rest /= box->loop[i].count) {
            const uint64_t at = rest % box->loop[i].count;

            src += at * box->loop[i].src_step;
            dst += at * box->loop[i].dst_step;
        }
        same += bank_of(memory, src) == bank_of(memory, dst);
    }
    return same;
}

/* A kernel reads and writes at the same time: operands in one bank slow each other down. */
static void remark_on_operands(struct board_remarks *remarks, const struct explained_board *board,
                               uint32_t elem)
{
    const struct mli_copy_box *box = &board->part[0].box;
    const struct profile_memory *memory = board->src.memory;
    uint64_t rows = box->run > 0 ? 1 : 0, same;

    if (memory != board->dst.memory || memory->banks < 2)
        return;
    for (size_t i = 0; i < box->loops && rows < ROWS_COMPARED; i++)
        rows *= box->loop[i].count;
    rows = rows < ROWS_COMPARED ? rows : ROWS_COMPARED;
    same = count_same(box, memory, rows);
    if (same > 0 && same >= rows - same)
        remark(remarks, BOARD_REMARK_SAME_BANK,
               "%" PRIu64 " of %" PRIu64 " row%s of src and dst begin%s in the same bank of %s; an "
               "offset of %" PRIu32 " B in a buffer of the job file avoids that",
               same, rows, rows == 1 ? "" : "s", same == 1 ? "s" : "", memory->name,
               memory->bank_bytes > elem ? memory->bank_bytes : elem);
}

void board_remarks_make(struct board_remarks *remarks, const struct explained_board *board,
                        const mli_explanation *move, bool kernel)
{
    *remarks = (struct board_remarks){0};
    remark_on_addresses(remarks, &board->src, move, true);
    remark_on_addresses(remarks, &board->dst, move, false);
    remark_on_rows(remarks, &board->src, &board->cost.read, true);
    remark_on_rows(remarks, &board->dst, &board->cost.written, false);
    if (kernel)
        remark_on_operands(remarks, board, move->elem);
    if (board->count.core > 0)
        remark(remarks, BOARD_REMARK_CORE,
               "the core moves %" PRIu64 " B in %" PRIu64
               " piece%s, which the controller cannot move",
               board->count.core_bytes, board->count.core, board->count.core == 1 ? "" : "s");
}

void board_remarks_retain_addresses(struct board_remarks *remarks)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < remarks->count; i++)
        if (addresses[remarks->list[i].kind])
            remarks->list[left++] = remarks->list[i];
    remarks->count = left;
}

const char *board_remark_word(enum board_remark_kind kind)
{
    return words[kind];
}

void board_remarks_json(struct jsonw *w, const char *key, const struct board_remarks *remarks)
{
    jsonw_array_begin(w, key);
    for (uint32_t i = 0; i < remarks->count; i++) {
        jsonw_object_begin(w, NULL);
        jsonw_string(w, "rule", words[remarks->list[i].kind]);
        jsonw_string(w, "message", remarks->list[i].text);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}
