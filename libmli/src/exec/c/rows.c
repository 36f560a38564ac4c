/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, rows between zeros, and zeros, in plain C. */
#include "../../bytes.h"
#include "../nest.h"
#include "kernels_c.h"

/* From here on a call of memcpy or memset costs less than it saves. */
enum { CALL_MIN = 65 };

#define ROWS_OF(size) NEST_FOR_ROWS(nest, to, from, { copy_bytes(to, from, size); })

/* Every row in two pieces of a constant size, which overlap where the run is not twice a piece. */
#define ROWS_IN_PIECES(piece)                                                                      \
    NEST_FOR_ROWS(nest, to, from, {                                                                \
        uint8_t head[piece], tail[piece];                                                          \
        copy_bytes(head, from, piece);                                                             \
        copy_bytes(tail, from + run - (piece), piece);                                             \
        copy_bytes(to, head, piece);                                                               \
        copy_bytes(to + run - (piece), tail, piece);                                               \
    })

void rows_c(const struct leaf_nest *nest, size_t run)
{
    if (run >= CALL_MIN)
        ROWS_OF(run)
    else if (run > 32)
        ROWS_IN_PIECES(32)
    else if (run > 16)
        ROWS_IN_PIECES(16)
    else if (run == 16)
        ROWS_OF(16)
    else if (run > 8)
        ROWS_IN_PIECES(8)
    else if (run == 8)
        ROWS_OF(8)
    else if (run > 4)
        ROWS_IN_PIECES(4)
    else if (run == 4)
        ROWS_OF(4)
    else if (run > 2)
        ROWS_IN_PIECES(2)
    else if (run == 2)
        ROWS_OF(2)
    else
        ROWS_OF(1)
}

static void zero_short(uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = 0;
}

static void zero(uint8_t *to, size_t bytes)
{
    if (bytes < 16)
        zero_short(to, bytes);
    else
        zero_bytes(to, bytes);
}

void bordered_c(const struct leaf_nest *nest, const struct leaf_border *border)
{
    NEST_FOR_ROWS(nest, to, from, {
        zero(to, border->before);
        copy_bytes(to + border->before, from, border->run);
        zero(to + border->before + border->run, border->after);
    })
}

#define FILL_IN_PIECES(piece)                                                                      \
    for (size_t i = 0; i < count; i++, dst += step) {                                              \
        zero_bytes(dst, piece);                                                                    \
        zero_bytes(dst + run - (piece), piece);                                                    \
    }

void fill_c(uint8_t *dst, size_t step, size_t run, size_t count)
{
    if (run >= CALL_MIN) {
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
