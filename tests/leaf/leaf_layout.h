/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of rows, or of the columns of a transpose's source: two loops, or a table. */
#ifndef TEST_LEAF_LAYOUT_H
#define TEST_LEAF_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

struct layout {
    size_t inner, step, outer_step; /* place i is at i / inner * outer_step + i % inner * step */

    /*
     * For tables only: the table begins with place `begin` of the loops. With a seed other than 0,
     * each place is moved by 0 .. slack bytes, and then all places are shuffled.
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
 * Returns the number of bytes from 0 to the end of the last of `count` places, or more if there is
 * no table yet.
 */
size_t layout_span(const struct layout *l, size_t count);

/* Writes the table of a layout that has no table yet. */
void layout_fill(const struct layout *l, size_t *table, size_t count);

#endif /* TEST_LEAF_LAYOUT_H */
