/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl selftest: random moves through the public API, every byte of which is verified.
 *
 *   case       one random move, derived from the seed and its index alone: the same one for every
 *              engine                                            case.c, case_cfg.c, case_layout.c
 *   frame      a buffer with a tensor in it and guard bytes around that
 *   image      what a frame holds before the move, or must hold after it      image.c, mismatch.c
 *   transfer   a case carried out through the API, in one of the modes       transfer.c, mailbox.c
 *   flight     a transfer under way, watched so that a stuck one is cancelled             flight.c
 *   worker     a thread that takes one case after the other                               worker.c
 *   round      all cases on one engine                              round.c, audit.c, engines.c
 *
 * To add a kind of move, add it to CASE_KINDS and give it its fields in case_cfg.c.
 */
#ifndef CLI_SELFTEST_CASE_H
#define CLI_SELFTEST_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/selftest/draw.h"
#include "mli_mov_api.h"

/* X(name, windows, offsets in the destination, steps, permutes, pads) */
#define CASE_KINDS(X)                                                                              \
    X(copy, 0, 0, 0, 0, 0)                                                                         \
    X(slice, 1, 0, 0, 0, 0)                                                                        \
    X(concat, 0, 1, 0, 0, 0)                                                                       \
    X(subsample, 0, 0, 1, 0, 0)                                                                    \
    X(permute, 0, 0, 0, 1, 0)                                                                      \
    X(pad, 0, 0, 0, 0, 1)                                                                          \
    X(all, 1, 1, 1, 1, 1)

enum case_kind {
#define CASE_KIND_ENUM(name, ...) CASE_##name,
    CASE_KINDS(CASE_KIND_ENUM)
#undef CASE_KIND_ENUM
        CASE_KIND_COUNT
};

/* X(name): how the end of a transfer is awaited. */
#define CASE_MODES(X)                                                                              \
    X(poll)     /* mli_mov_isdone() again and again */                                             \
    X(callback) /* the registered callback */                                                      \
    X(wait)     /* mli_mov_wait() */                                                               \
    X(sync)     /* mli_mov_tensor_sync(), or a permute kernel: no handle at all */                 \
    X(mixed)    /* each case one of those above */

enum case_mode {
#define CASE_MODE_ENUM(name) CASE_MODE_##name,
    CASE_MODES(CASE_MODE_ENUM)
#undef CASE_MODE_ENUM
        CASE_MODE_COUNT
};

/* What cases are drawn from, beside seed and index. */
struct case_limits {
    uint64_t max_bytes; /* of a tensor, its gaps included */
    uint32_t channels;  /* that a transfer claims, at most */
    enum case_mode mode;
};

struct frame {
    size_t before; /* guard bytes; the frame itself begins at a page */
    size_t tensor; /* bytes from the tensor's first element to the end of its last */
    size_t bytes;  /* of the frame */
};

/* Bytes of a frame beyond its tensor, at most. */
#define FRAME_GUARDS_MAX 8192

struct move_case {
    uint64_t seed, index;
    enum case_kind kind;
    enum case_mode mode;
    bool kernel;     /* mode sync: mli_krn_permute_*() */
    bool chained;    /* mode callback: the callback starts it again */
    uint32_t width;  /* channels to claim */
    uint32_t starts; /* of the prepared transfer */
    uint8_t salt;    /* of the images' counters */

    mli_tensor src, dst; /* without memory; dst as given to the move */
    mli_mov_cfg_t cfg;

    /* What the move means, by the definition in mli_mov_api.h. */
    uint32_t element_size;
    uint32_t count[MLI_MAX_RANK]; /* samples written along each dimension of the destination */
    uint32_t dst_shape[MLI_MAX_RANK];
    int32_t src_stride[MLI_MAX_RANK], dst_stride[MLI_MAX_RANK];
    uint64_t written; /* bytes */
    struct frame src_frame, dst_frame;
};

void case_draw(struct move_case *c, uint64_t seed, uint64_t index,
               const struct case_limits *limits);

const char *case_kind_name(enum case_kind kind);
const char *case_mode_name(enum case_mode mode);
/** All of them, by enum case_mode; ends with null. */
extern const char *const case_mode_words[];

/** "permute fx16 (3, 4) -> (4, 3), sync, 2 channels". Returns `out`. */
enum { CASE_TEXT_MAX = 256 };
const char *case_text(const struct move_case *c, char out[CASE_TEXT_MAX]);

/* Parts of case_draw(). */

/** The window, paddings, steps, permutation and offsets of the case's kind; paddings of up to
 *  `pad_max`. */
void case_draw_cfg(struct move_case *c, struct draw *draw, uint32_t pad_max);
/** Strides and frames for a case with shape and cfg. False where a tensor exceeds the limit. */
bool case_draw_layout(struct move_case *c, struct draw *draw, uint64_t max_bytes);

#endif /* CLI_SELFTEST_CASE_H */
