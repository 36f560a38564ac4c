/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies short runs as two pieces of a constant size, which overlap if the run is less than two
 * pieces: without a call, a loop or a branch.
 */
#ifndef MLI_EXEC_PIECE_H
#define MLI_EXEC_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "libmli/src/bytes.h"

/* piece_N copies runs of N to 2 * N bytes; piece_1 runs of one byte. */
#define DEFINE_PIECE(N)                                                                            \
    static inline __attribute__((always_inline)) void piece_##N(uint8_t *to, const uint8_t *from,  \
                                                                size_t run)                        \
    {                                                                                              \
        uint8_t head[N], tail[N];                                                                  \
                                                                                                   \
        copy_bytes(head, from, N);                                                                 \
        copy_bytes(tail, from + run - (N), N);                                                     \
        copy_bytes(to, head, N);                                                                   \
        copy_bytes(to + run - (N), tail, N);                                                       \
    }

DEFINE_PIECE(2)
DEFINE_PIECE(4)
DEFINE_PIECE(8)
DEFINE_PIECE(16)
DEFINE_PIECE(32)

static inline __attribute__((always_inline)) void piece_1(uint8_t *to, const uint8_t *from,
                                                          size_t run)
{
    (void)run;
    *to = *from;
}

/* Expands to ROWS_WITH(piece_N) for runs of up to 32 bytes, so that each size has its own loop. The
   code after the macro handles longer runs. */
#define PIECE_FOR_RUN(run, ROWS_WITH)                                                              \
    if ((run) == 1)                                                                                \
        ROWS_WITH(piece_1)                                                                         \
    else if ((run) <= 4)                                                                           \
        ROWS_WITH(piece_2)                                                                         \
    else if ((run) <= 8)                                                                           \
        ROWS_WITH(piece_4)                                                                         \
    else if ((run) <= 16)                                                                          \
        ROWS_WITH(piece_8)                                                                         \
    else if ((run) <= 32)                                                                          \
        ROWS_WITH(piece_16)                                                                        \
    else

#undef DEFINE_PIECE

#endif /* MLI_EXEC_PIECE_H */
