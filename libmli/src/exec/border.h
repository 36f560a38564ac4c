/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeros beside the rows of a box, which are written with the rows and not after all of them. */
#ifndef MLI_EXEC_BORDER_H
#define MLI_EXEC_BORDER_H

#include <stdbool.h>

#include "libmli/src/plan.h"

/* What a box writes, as rows. */
struct border_rows {
    const uint8_t *dst;
    size_t run, loops;
    const struct mli_copy_loop *loop;
};

/** The rows of the box. */
static inline struct border_rows border_rows(const struct mli_copy_box *box)
{
    return (struct border_rows){box->dst, box->run, box->loops, box->loop};
}

/** The same, with the innermost loop in the run where that goes on in the destination. */
static inline struct border_rows border_long_rows(const struct mli_copy_box *box)
{
    struct border_rows rows = border_rows(box);

    if (rows.loops > 0 && rows.loop[rows.loops - 1].dst_step == rows.run)
        rows.run *= rows.loop[--rows.loops].count;
    return rows;
}

/** Does every row of the slab end where one of these begins, or begin where it ends? */
bool border_is_before(const struct mli_fill_slab *slab, const struct border_rows *rows);
bool border_is_after(const struct mli_fill_slab *slab, const struct border_rows *rows);

#endif /* MLI_EXEC_BORDER_H */
