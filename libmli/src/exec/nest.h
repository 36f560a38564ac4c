/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over the rows of a nest (leaf.h), for the kernels. */
#ifndef MLI_EXEC_NEST_H
#define MLI_EXEC_NEST_H

#include "libmli/src/exec/leaf.h"

static inline size_t nest_rows(const struct leaf_nest *nest)
{
    return nest->outer.count * nest->inner.count;
}

/* Returns whether rows of `row` bytes follow one another in the destination without a gap. */
static inline bool nest_is_packed(const struct leaf_nest *nest, size_t row)
{
    return (nest->inner.count == 1 || nest->inner.dst_step == row) &&
           (nest->outer.count == 1 || nest->outer.dst_step == nest->inner.count * row);
}

/* Runs a block of code for every row; `to` and `from` point to the row's first bytes. */
#define NEST_FOR_ROWS(nest, to, from, ...)                                                         \
    for (size_t outer_ = 0; outer_ < (nest)->outer.count; outer_++) {                              \
        uint8_t *to = (nest)->dst + outer_ * (nest)->outer.dst_step;                               \
        const uint8_t *from = (nest)->src + outer_ * (nest)->outer.src_step;                       \
                                                                                                   \
        for (size_t inner_ = 0; inner_ < (nest)->inner.count;                                      \
             inner_++, to += (nest)->inner.dst_step, from += (nest)->inner.src_step)               \
            __VA_ARGS__                                                                            \
    }

#endif /* MLI_EXEC_NEST_H */
