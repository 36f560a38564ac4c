/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl selftest: random moves through the public API, each byte verified. The data flow:
 *
 *     seed, index -> random_move.c        a move; the property tests draw from it too
 *                 -> selftest_case.c      a case: the move, its frames, and how it is carried out
 *                 -> failure.c            the bytes of the frames before the move and after it
 *                 -> selftest_transfer.c  the move through the API; cancels a stuck one
 *                 -> failure.c            wrong bytes, and all other failures
 *                 -> round.c              all cases on one engine, in several threads;
 *                                         board_selftest.c: on a board at a serial line
 *                 -> selftest_report.c    lines, objects; a failed case as jobs
 *
 * A frame is a buffer with a tensor in it and guard bytes around the tensor.
 * To add a kind of move, start at MOVE_KINDS in random_move.h; a way to wait, at CASE_MODES here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/selftest/random_move.h"

/* X(name): how the program learns that a transfer has ended. */
#define CASE_MODES(X)                                                                              \
    X(poll)     /* mli_mov_isdone() in a loop */                                                   \
    X(callback) /* the registered callback */                                                      \
    X(wait)     /* mli_mov_wait() */                                                               \
    X(sync)     /* mli_mov_tensor_sync(), or a permute kernel, without a handle */                 \
    X(mixed)    /* one of the modes above, at random for each case */

enum case_mode {
#define CASE_MODE_ENUM(name) CASE_MODE_##name,
    CASE_MODES(CASE_MODE_ENUM)
#undef CASE_MODE_ENUM
        CASE_MODE_COUNT
};

/* The options that cases depend on, besides seed and index. */
struct case_limits {
    uint64_t max_bytes; /* largest size of a tensor, its gaps included */
    uint32_t channels;  /* largest number of channels that a transfer claims */
    enum case_mode mode;
};

struct frame {
    size_t before; /* number of guard bytes before the tensor; the frame begins at a page */
    size_t tensor; /* number of bytes from the first element to the end of the last element */
    size_t bytes;  /* size of the frame */
};

/* Maximum number of bytes of a frame in addition to its tensor. */
#define FRAME_GUARDS_MAX 8192

struct move_case {
    uint64_t seed, index;
    enum case_mode mode;
    bool kernel;     /* true: the case calls mli_krn_permute_*(); only in mode sync */
    bool chained;    /* true: the callback starts the transfer again; only in mode callback */
    uint32_t width;  /* number of channels to claim */
    uint32_t starts; /* how often the prepared transfer is started */
    uint8_t salt;    /* varies the bytes of the images from case to case */

    struct random_move move;
    uint64_t written; /* bytes */
    struct frame src_frame, dst_frame;
};

/** Makes random case `index` of `seed`: the same case for every engine. */
void case_draw(struct move_case *c, uint64_t seed, uint64_t index,
               const struct case_limits *limits);
/** Names of all modes, by enum case_mode; ends with null. */
extern const char *const case_mode_words[];

/** Writes "permute fx16 (3, 4) -> (4, 3), sync, 2 channels". Returns `out`. */
enum { CASE_TEXT_MAX = 256 };
const char *case_text(const struct move_case *c, char out[CASE_TEXT_MAX]);
