/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explanations of moves that the test computes itself, by the rules at the top of mli_mov_api.h and
 * without the library. The explanations are input for tests of pictures.
 */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "cli/job/explained.h"
#include "tests/support/rng.h"

struct hand {
    uint32_t rank, elem;
    uint32_t shape[MLI_MAX_RANK]; /* shape of the source */
    uint32_t pre[MLI_MAX_RANK], post[MLI_MAX_RANK];
    uint32_t offset[MLI_MAX_RANK], size[MLI_MAX_RANK]; /* window; size 0: up to the end */
    uint32_t step[MLI_MAX_RANK];                       /* step of the subsampling; 0 means 1 */
    uint32_t perm[MLI_MAX_RANK];                       /* all 0: no permutation */
    uint32_t at[MLI_MAX_RANK];     /* first written coordinate of the destination (dst_offset) */
    uint64_t stride[MLI_MAX_RANK]; /* strides of the destination; 0: packed */
    uint32_t whole[MLI_MAX_RANK];  /* shape of an updated destination; 0: a new destination */
    int axis;                      /* quantised dimension, counted from 1, or 0 */
    const char *name, *op, *type;
};

/** Explains the move `hand`, and refers to its strings. The plan has a loop for each dimension. */
void hand_explain(const struct hand *hand, struct explained *explained);

/** Makes a random valid move of extents up to `most`, which combines all steps of a move. */
void hand_random(struct rng *rng, uint32_t most, struct hand *hand);

#endif /* TESTS_HAND_H */
