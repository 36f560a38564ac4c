/* SPDX-License-Identifier: BSD-3-Clause */
/* Where rows, or the columns of a transpose's source, lie: as two loops have them, or anywhere. */
#ifndef TEST_LEAF_LAYOUT_H
#define TEST_LEAF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct layout {
    size_t inner, step, outer_step; /* i is at i / inner * outer_step + i % inner * step */

    /* Of a table only: it begins in the middle of the loops; with a seed that is not 0 each place
       is moved by 0 .. slack bytes, and then all are shuffled. */
    size_t begin, slack;
    uint64_t seed;
    const size_t *table; /* where there is one it says where i is */
};

static inline size_t layout_at(const struct layout *l, size_t i)
{
    if (l->table)
        return l->table[i];
    return i < l->inner ? i * l->step : i / l->inner * l->outer_step + i % l->inner * l->step;
}

/* From byte 0 to where the last of `count` lies, or beyond it where the table is not there yet. */
size_t layout_span(const struct layout *l, size_t count);

/* Writes the table of the layout, which does not refer to it yet. */
void layout_fill(const struct layout *l, size_t *table, size_t count);

#endif /* TEST_LEAF_LAYOUT_H */
