/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in plain C that copy rows, copy rows with zeros on both sides, and write zeros. */
#include "libmli/src/bytes.h"
#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/copy.h"
#include "libmli/src/exec/nest.h"
#include "libmli/src/exec/piece.h"
#include "libmli/src/exec/tuning.h"

#define ROWS_OF(size) NEST_FOR_ROWS(nest, to, from, { copy_bytes(to, from, size); })

/* A run of exactly one piece needs only one copy. */
void rows_c(const struct leaf_nest *nest, size_t run)
{
#define ROWS_WITH(piece) NEST_FOR_ROWS(nest, to, from, { piece(to, from, run); })
    if (run >= TUNE_C_CALL_MIN)
        ROWS_WITH(copy_run)
    else if (run == 32)
        ROWS_OF(32)
    else if (run == 16)
        ROWS_OF(16)
    else if (run == 8)
        ROWS_OF(8)
    else if (run == 4)
        ROWS_OF(4)
    else if (run == 2)
        ROWS_OF(2)
    else
        PIECE_FOR_RUN(run, ROWS_WITH) ROWS_WITH(piece_32)
#undef ROWS_WITH
}

/* Zeroes `bytes` bytes, by a loop if they are few. */
static inline void zero(uint8_t *to, size_t bytes)
{
    if (bytes >= 16) {
        zero_bytes(to, bytes);
    } else if (bytes >= 8) {
        zero_bytes(to, 8);
        zero_bytes(to + bytes - 8, 8);
    } else if (bytes >= 4) {
        zero_bytes(to, 4);
        zero_bytes(to + bytes - 4, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            to[i] = 0;
    }
}

void bordered_c(const struct leaf_nest *nest, const struct leaf_border *border)
{
    const size_t run = border->run;

#define ROWS_WITH(piece)                                                                           \
    NEST_FOR_ROWS(nest, to, from, {                                                                \
        zero(to, border->before);                                                                  \
        piece(to + border->before, from, run);                                                     \
        zero(to + border->before + run, border->after);                                            \
    })
    if (run >= TUNE_C_CALL_MIN)
        ROWS_WITH(copy_run)
    else
        PIECE_FOR_RUN(run, ROWS_WITH) ROWS_WITH(piece_32)
#undef ROWS_WITH
}

#define FILL_IN_PIECES(piece)                                                                      \
    for (size_t i = 0; i < count; i++, dst += step) {                                              \
        zero_bytes(dst, piece);                                                                    \
        zero_bytes(dst + run - (piece), piece);                                                    \
    }

void fill_c(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run >= TUNE_C_CALL_MIN) {
        for (size_t i = 0; i < count; i++, dst += step)
            zero_bytes(dst, run);
    } else if (run >= 32) {
        FILL_IN_PIECES(32)
    } else if (run >= 16) {
        FILL_IN_PIECES(16)
    } else if (run >= 8) {
        FILL_IN_PIECES(8)
    } else if (run >= 4) {
        FILL_IN_PIECES(4)
    } else if (run >= 2) {
        FILL_IN_PIECES(2)
    } else {
        for (size_t i = 0; i < count; i++, dst += step)
            *dst = 0;
    }
}
