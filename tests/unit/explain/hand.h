/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves explained by hand: from the rules at the top of mli_mov_api.h, without the library, for
 * tests of what is made of an explanation.
 */
#ifndef TESTS_HAND_H
#define TESTS_HAND_H

#include "cli/explain/explained.h"
#include "tests/support/rng.h"

struct hand {
    uint32_t rank, elem;
    uint32_t shape[MLI_MAX_RANK]; /* of the source */
    uint32_t pre[MLI_MAX_RANK], post[MLI_MAX_RANK];
    uint32_t offset[MLI_MAX_RANK], size[MLI_MAX_RANK]; /* size 0: up to the end */
    uint32_t step[MLI_MAX_RANK];                       /* 0 is 1 */
    uint32_t perm[MLI_MAX_RANK];                       /* all 0: as they are */
    uint32_t at[MLI_MAX_RANK];                         /* dst_offset */
    uint64_t stride[MLI_MAX_RANK];                     /* of the destination; 0: packed */
    uint32_t whole[MLI_MAX_RANK]; /* of a destination that is updated; 0: it is new */
    int axis;                     /* quantised, from 1; 0: none */
    const char *name, *op, *type;
};

/** Borrows the words of `hand`. The plan is a naive one: a loop for each dimension. */
void hand_explain(const struct hand *hand, struct explained *explained);

/** A move of extents up to `most`, of everything that a move can do at once. */
void hand_random(struct rng *rng, uint32_t most, struct hand *hand);

#endif /* TESTS_HAND_H */
