/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transposes with rows or columns from two loops: in panels, with tables of the places of rows and
 * columns.
 */
#ifndef MLI_EXEC_PANEL_H
#define MLI_EXEC_PANEL_H

#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/walk.h"

/* Position in a walk over two loops. */
struct panel_progress {
    size_t outer, inner;
};

/*
 * The columns of a walk: for each iteration of the outer loop, zeros, columns of the source, zeros.
 */
struct panel_columns {
    const struct leaf_loop *loop;
    size_t before, width; /* number of zero columns first, and of all columns, in one iteration of
                             the outer loop */
    const uint8_t *src, *base; /* first row of the source; base address of the tables */
};

/* Returns the columns of a walk, for rows from `src` on. */
struct panel_columns panel_columns(const struct walk *walk, const uint8_t *src);

/* Returns the number of columns in all iterations of the outer loop. */
size_t panel_width(const struct walk *walk);

/* Sets at[] to the places of the next `count` rows. */
void panel_locate_rows(size_t *at, const struct leaf_loop *row, struct panel_progress *p,
                       size_t count);

/* Sets at[] to the places of the next `count` columns, relative to columns->base. */
void panel_locate_columns(size_t *at, const struct panel_columns *columns, struct panel_progress *p,
                          size_t count);

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src);

#endif /* MLI_EXEC_PANEL_H */
