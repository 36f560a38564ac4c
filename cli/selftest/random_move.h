/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random moves: element type, shapes, strides and configuration, without memory. mlictl selftest
 * and tests/property get their cases here; each has its own check of the result.
 *
 *   kind      which fields of the configuration are used       MOVE_KINDS
 *   shape     short, of any magnitude, or large enough for blocked loops
 *   strides   packed, nested with gaps, Fortran order, any order, elements that share memory, ...
 *
 * To add a class of moves, add it to the draw_ function of its aspect in random_move.c: selftest
 * and the property tests both reach it from then on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/selftest/draw.h"
#include "mli_mov_api.h"

/* X(name, windows, offsets in the destination, steps, permutes, pads) */
#define MOVE_KINDS(X)                                                                              \
    X(copy, 0, 0, 0, 0, 0)                                                                         \
    X(slice, 1, 0, 0, 0, 0)                                                                        \
    X(concat, 0, 1, 0, 0, 0)                                                                       \
    X(subsample, 0, 0, 1, 0, 0)                                                                    \
    X(permute, 0, 0, 0, 1, 0)                                                                      \
    X(pad, 0, 0, 0, 0, 1)                                                                          \
    X(all, 1, 1, 1, 1, 1)

enum move_kind {
#define MOVE_KIND_ENUM(name, ...) MOVE_##name,
    MOVE_KINDS(MOVE_KIND_ENUM)
#undef MOVE_KIND_ENUM
        MOVE_KIND_COUNT
};

/* Limits and probabilities. Percentages are of all cases. */
struct move_rules {
    uint64_t max_bytes;        /* largest size of each tensor, gaps included */
    uint32_t combined_percent; /* percent of moves of kind `all`; the other kinds share the rest */
    uint32_t large_percent;    /* percent of shapes so large that kernels move them in blocks */
    uint32_t short_percent; /* percent of extents of at most some dozens; the other extents have any
                               magnitude */
    bool kernel;            /* true: make only permutes, with types and strides that kernels take */
    bool any_destination;   /* true: allow strides at which destination elements share memory, which
                               moves refuse */
};

struct random_move {
    enum move_kind kind;
    mli_tensor src, dst; /* tensors without memory; dst is what the caller of the move fills */
    mli_mov_cfg_t cfg;

    /* The meaning of the move, by the definition in mli_mov_api.h. */
    uint32_t element_size;
    uint32_t count[MLI_MAX_RANK]; /* samples written along each dimension of the destination */
    uint32_t dst_shape[MLI_MAX_RANK];
    int32_t src_stride[MLI_MAX_RANK], dst_stride[MLI_MAX_RANK]; /* never 0 */
};

/**
 * Makes a random legal move; with rules->any_destination, destination elements may share memory.
 * Writes only fields that a move reads: entries beyond the rank keep their values.
 */
void random_move_draw(struct random_move *move, struct draw *draw, const struct move_rules *rules);

/** Changes a move of kind MOVE_permute to the arguments of a permute kernel: dst describes the
 *  output, and all strides are in the tensors. */
void random_move_for_kernel(struct random_move *move);

/** Returns the number of bytes from a tensor's first element to the end of its last element. */
uint64_t random_move_src_bytes(const struct random_move *move);
uint64_t random_move_dst_bytes(const struct random_move *move);

const char *random_move_kind_name(enum move_kind kind);
