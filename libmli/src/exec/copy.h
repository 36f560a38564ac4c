/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of rows: long rows by memcpy, but not where memcpy is slow; short runs in two pieces.
 *
 * On AMD Zen 3, `rep movsb`, which memcpy of glibc uses from about 2 KiB on, takes up to 25 times
 * as long if the destination begins 1 to 31 bytes after the source within a page (on Zen 4 too:
 * glibc's bug 30994). Such arrays are common: malloc() often puts 16 bytes between two arrays of
 * whole pages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/src/builtins.h"

enum {
    COPY_PAGE = 4096,
    COPY_NEAR = 31,       /* memcpy is slow for destinations 1 to 31 bytes after the source */
    COPY_PART = 64,       /* bytes that a compiler copies without `rep movs` and without a call */
    COPY_SLOW_MIN = 1024, /* shorter rows need no special handling */
};

/** Returns whether memcpy may be slow for long rows at these addresses. */
static inline bool copy_is_slow(const uint8_t *to, const uint8_t *from)
{
#if defined(__x86_64__) || defined(__i386__)
    return ((uintptr_t)to - (uintptr_t)from - 1) % COPY_PAGE < COPY_NEAR;
#else
    (void)to;
    (void)from;
    return false;
#endif
}

/** Copies a row of any length. */
static inline void copy_run(uint8_t *to, const uint8_t *from, size_t bytes)
{
    if (bytes >= COPY_SLOW_MIN && copy_is_slow(to, from)) {
        for (; bytes > COPY_PART; bytes -= COPY_PART, to += COPY_PART, from += COPY_PART)
            copy_bytes(to, from, COPY_PART);
    }
    copy_bytes(to, from, bytes);
}

/*
 * Copies short runs as two pieces of a constant size, which overlap if the run is less than two
 * pieces: without a call, a loop or a branch.
 */

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
