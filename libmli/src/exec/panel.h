/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes whose rows or columns are those of two loops, in panels with a table of each. */
#ifndef MLI_EXEC_PANEL_H
#define MLI_EXEC_PANEL_H

#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"

/* How far a walk over two loops has come. */
struct panel_progress {
    size_t outer, inner;
};

/* The columns of a walk: some of zeros, some of the source, some of zeros, and again. */
struct panel_columns {
    const struct leaf_loop *loop;
    size_t before, width;      /* of zeros, and all that make one iteration of the outer loop */
    const uint8_t *src, *base; /* the source's first row, and what the tables count from */
};

/* For rows from `src` on. */
struct panel_columns panel_columns(const struct walk *walk, const uint8_t *src);

/* Of all iterations of the outer loop. */
size_t panel_width(const struct walk *walk);

/* Where the next `count` rows are. */
void panel_locate_rows(size_t *at, const struct leaf_loop *row, struct panel_progress *p,
                       size_t count);

/* Where the next `count` columns are, from columns->base. */
void panel_locate_columns(size_t *at, const struct panel_columns *columns, struct panel_progress *p,
                          size_t count);

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src);

#endif /* MLI_EXEC_PANEL_H */
