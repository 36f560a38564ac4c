/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeros beside the rows of a box: they are written with the rows, not after all rows. */
#ifndef MLI_EXEC_BORDER_H
#define MLI_EXEC_BORDER_H

#include <stdbool.h>

#include "libmli/src/plan.h"

/* The rows that a box writes. */
struct border_rows {
    const uint8_t *dst;
    size_t run, loops;
    const struct mli_copy_loop *loop;
};

/** Returns the rows of the box. */
static inline struct border_rows border_rows(const struct mli_copy_box *box)
{
    return (struct border_rows){box->dst, box->run, box->loops, box->loop};
}

/**
 * Returns the rows of the box, joined with those of the innermost loop if that loop is contiguous
 * in the destination.
 */
static inline struct border_rows border_long_rows(const struct mli_copy_box *box)
{
    struct border_rows rows = border_rows(box);

    if (rows.loops > 0 && rows.loop[rows.loops - 1].dst_step == rows.run)
        rows.run *= rows.loop[--rows.loops].count;
    return rows;
}

/**
 * Return whether every row of the slab ends where a row begins (before), or begins where a row ends
 * (after).
 */
bool border_is_before(const struct mli_fill_slab *slab, const struct border_rows *rows);
bool border_is_after(const struct mli_fill_slab *slab, const struct border_rows *rows);

#endif /* MLI_EXEC_BORDER_H */
