/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random moves for measuring, determined by a seed and an index. They are like the moves of neural
 * networks, in contrast to the moves of mlictl selftest, which look for mistakes:
 *
 *   elements  1, 2 or 4 bytes
 *   size      1 KiB to max_bytes, all magnitudes with equal probability
 *   shape     rank 1 to 4; half of the tensors have a usual number of channels (3, 16, 32, ..)
 *   kind      copy, slice, concat, subsample, permute, pad, or a combination, each as often
 *   strides   packed; a quarter of the tensors have a gap after each row of one dimension
 *   address   75 % of the tensors begin at a cache line, 25 % at any element
 */
#ifndef CLI_SWEEP_MOVE_H
#define CLI_SWEEP_MOVE_H

#include <stdint.h>

#include "mli_mov_api.h"

/* X(name): the kinds of moves. */
#define SWEEP_KINDS(X)                                                                             \
    X(copy)                                                                                        \
    X(slice)                                                                                       \
    X(concat)                                                                                      \
    X(subsample)                                                                                   \
    X(permute)                                                                                     \
    X(pad)                                                                                         \
    X(combined)

enum sweep_kind {
#define SWEEP_KIND_ENUM(name) SWEEP_##name,
    SWEEP_KINDS(SWEEP_KIND_ENUM)
#undef SWEEP_KIND_ENUM
        SWEEP_KIND_COUNT
};

enum { SWEEP_SLACK = 4096 }; /* the largest offset of a tensor in its buffer */

/* A move in two buffers. Each must have room for SWEEP_SLACK bytes more than the tensor. */
struct sweep_move {
    enum sweep_kind kind;
    mli_tensor src, dst; /* tensors without data */
    mli_mov_cfg_t cfg;
    uint32_t src_offset, dst_offset; /* bytes from the beginning of a buffer, which is aligned to
                                        4096 bytes, to the first element */
};

/** Makes move `index` of `seed`. Each tensor has at most 2 * max_bytes with its gaps. max_bytes is
 * at least 2 KiB. */
void sweep_move_draw(struct sweep_move *move, uint64_t seed, uint64_t index, uint64_t max_bytes);

const char *sweep_kind_name(enum sweep_kind kind);

#endif /* CLI_SWEEP_MOVE_H */
