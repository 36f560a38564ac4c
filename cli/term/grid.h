/* SPDX-License-Identifier: BSD-3-Clause */
/* A table in text: each column is as wide as its widest cell. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/json/textw.h"

struct grid {
    const char *columns; /* alignment of each column: 'l' or 'r' */
    struct textw text;   /* all cells, each with a terminating zero */
    size_t cells;
};

/** Makes an empty grid. Borrows `columns`. */
void grid_init(struct grid *grid, const char *columns);
void grid_finish(struct grid *grid);

/** Appends a cell to the row, or begins a row after a full one. The text must be ASCII. */
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes the rows with `indent` before each; sets w->failed if memory is short. */
void grid_write(const struct grid *grid, const char *indent, struct textw *w);

#endif /* CLI_GRID_H */
