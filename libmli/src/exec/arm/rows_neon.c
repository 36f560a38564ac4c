/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies rows in registers of 16 bytes. The last register overlaps the one before, so that no store
 * exceeds the row. Stores that extend into the next packed row would save nothing: NEON has no
 * masked loads, so a row needs as many loads as stores.
 */
#include "libmli/src/exec/level.h"

#if LEVEL_HAS_NEON

#include <arm_neon.h>

#include "libmli/src/bytes.h"
#include "libmli/src/exec/arm/kernels_neon.h"
#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/nest.h"
#include "libmli/src/exec/tuning.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
    PIECE = 16,
    PIECES_MAX = 8, /* most pieces of a row that is loaded completely before it is stored */
};

/* Copies a row of more than `pieces - 1` pieces. */
ALWAYS_INLINE void copy_pieces(uint8_t *to, const uint8_t *from, size_t run, size_t pieces)
{
    const size_t last = run - PIECE;
    uint8x16_t v[PIECES_MAX];

    _Pragma("GCC unroll 8") for (size_t i = 0; i < pieces; i++) v[i] =
        vld1q_u8(from + (i + 1 < pieces ? i * PIECE : last));
    _Pragma("GCC unroll 8") for (size_t i = 0; i < pieces; i++)
        vst1q_u8(to + (i + 1 < pieces ? i * PIECE : last), v[i]);
}

/* Copies a row of at least four pieces. */
ALWAYS_INLINE void copy_long(uint8_t *to, const uint8_t *from, size_t run)
{
    for (size_t i = 0; i + 4 * PIECE < run; i += 4 * PIECE)
        vst1q_u8_x4(to + i, vld1q_u8_x4(from + i));
    vst1q_u8_x4(to + run - 4 * PIECE, vld1q_u8_x4(from + run - 4 * PIECE));
}

#define ROWS_OF(pieces) NEST_FOR_ROWS(nest, to, from, { copy_pieces(to, from, run, pieces); })

void rows_neon(const struct leaf_nest *nest, size_t run)
{
    const size_t pieces = (run + PIECE - 1) / PIECE;

    if (pieces == 3)
        ROWS_OF(3)
    else if (pieces == 5)
        ROWS_OF(5)
    else if (pieces == 6)
        ROWS_OF(6)
    else if (pieces == 7)
        ROWS_OF(7)
    else if (pieces == 8)
        ROWS_OF(8)
    else if (pieces > 8 && run < TUNE_NEON_CALL_MIN)
        NEST_FOR_ROWS(nest, to, from, { copy_long(to, from, run); })
    else
        rows_c(nest, run);
}

/* Copies a run as two pieces of a constant size; the run has one to two of them. */
#define COPY_TWICE(size)                                                                           \
    do {                                                                                           \
        copy_bytes(to, from, size);                                                                \
        copy_bytes(to + run - (size), from + run - (size), size);                                  \
    } while (0)

ALWAYS_INLINE void copy_run(uint8_t *to, const uint8_t *from, size_t run)
{
    if (run >= TUNE_NEON_CALL_MIN)
        copy_bytes(to, from, run);
    else if (run >= 4 * PIECE)
        copy_long(to, from, run);
    else if (run > 2 * PIECE)
        COPY_TWICE(2 * PIECE);
    else if (run >= PIECE)
        COPY_TWICE(PIECE);
    else if (run >= 8)
        COPY_TWICE(8);
    else if (run >= 4)
        COPY_TWICE(4);
    else if (run >= 2)
        COPY_TWICE(2);
    else
        *to = *from;
}

/*
 * Zeroes bytes `begin` to `end` of a row of at least a piece. Other bytes of the row become
 * undefined.
 */
ALWAYS_INLINE void zero_in_row(uint8_t *row, size_t begin, size_t end)
{
    const uint8x16_t zero = vdupq_n_u8(0);

    for (; begin + PIECE < end; begin += PIECE)
        vst1q_u8(row + begin, zero);
    if (begin < end)
        vst1q_u8(row + (end > PIECE ? end - PIECE : 0), zero);
}

/* Writes the zeros in whole pieces, then the run over the excess. */
void bordered_neon(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t before = border->before, run = border->run, row = before + run + border->after;

    if (row < PIECE || before >= TUNE_NEON_CALL_MIN || border->after >= TUNE_NEON_CALL_MIN) {
        bordered_c(nest, border);
        return;
    }
    NEST_FOR_ROWS(nest, to, from, {
        zero_in_row(to, 0, before);
        zero_in_row(to, before + run, row);
        copy_run(to + before, from, run);
    })
}

void fill_neon(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run <= 4 * PIECE || run >= TUNE_NEON_CALL_MIN) {
        fill_c(dst, step, run, count);
        return;
    }
    for (size_t i = 0; i < count; i++, dst += step)
        zero_in_row(dst, 0, run);
}

#endif
