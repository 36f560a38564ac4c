/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that are as wide as the widest of their cells. */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/json/textw.h"

struct grid {
    const char *columns; /* a letter for each: 'l' or 'r', where its cells stand */
    struct textw text;   /* all cells, one after the other, each with a zero behind it */
    size_t cells;
};

/** An empty grid; `columns` must stay alive. */
void grid_init(struct grid *grid, const char *columns);
void grid_finish(struct grid *grid);

/** The next cell, from left to right and then in the next row: bytes that are as wide as they are
 *  many. */
void grid_cell(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Writes the rows, `indent` before each and a newline behind; failures are remembered in `w`. */
void grid_write(const struct grid *grid, const char *indent, struct textw *w);

#endif /* CLI_GRID_H */
