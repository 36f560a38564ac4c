/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the offset of each row (in the source of a transpose: of each column). Offsets come
 * from two loops, or from a table. */
#ifndef TEST_LEAF_LAYOUT_H
#define TEST_LEAF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct layout {
    size_t inner, step, outer_step; /* place i is at i / inner * outer_step + i % inner * step */

    /*
     * For tables only: the first entry is iteration number `begin` of the loops. If the seed is
     * not 0, each offset is increased by 0 .. slack bytes, and the table is shuffled.
     */
    size_t begin, slack;
    uint64_t seed;
    const size_t *table; /* table of the places, or null */
};

static inline size_t layout_at(const struct layout *l, size_t i)
{
    if (l->table)
        return l->table[i];
    return i < l->inner ? i * l->step : i / l->inner * l->outer_step + i % l->inner * l->step;
}

/*
 * Returns the largest offset of `count` rows. Without a table, returns an upper bound.
 */
size_t layout_span(const struct layout *l, size_t count);

/* Writes the table of a layout that has no table yet. */
void layout_fill(const struct layout *l, size_t *table, size_t count);

#endif /* TEST_LEAF_LAYOUT_H */
