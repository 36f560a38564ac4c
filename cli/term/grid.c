/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CELL_MAX = 1024, COLUMNS_MAX = 16, GAP = 2 };

void grid_init(struct grid *grid, const char *columns)
{
    *grid = (struct grid){.columns = columns};
    textw_init(&grid->text);
}

void grid_finish(struct grid *grid)
{
    textw_finish(&grid->text);
    grid->cells = 0;
}

void grid_add(struct grid *grid, const char *format, ...)
{
    char cell[CELL_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(cell, sizeof(cell), format, args);
    va_end(args);
    for (char *at = cell, *tab; at; at = tab) {
        tab = strchr(at, '\t');
        if (tab)
            *tab++ = '\0';
        textw_printf(&grid->text, "%s%c", at, '\0');
        grid->cells++;
    }
}

static void measure(const struct grid *grid, size_t columns, size_t width[COLUMNS_MAX])
{
    const char *cell = grid->text.data;
    for (size_t i = 0; i < grid->cells; i++, cell += strlen(cell) + 1) {
        size_t length = strlen(cell);
        if (width[i % columns] < length)
            width[i % columns] = length;
    }
}

/* Writes a cell after the pending blanks. Delaying blanks avoids trailing spaces. */
static void write_cell(struct textw *w, const char *cell, size_t width, bool right, size_t *blanks)
{
    size_t length = strlen(cell);
    if (length == 0) {
        *blanks += width + GAP;
        return;
    }
    size_t before = *blanks + (right ? width - length : 0);
    textw_printf(w, "%*s%s", (int)before, "", cell);
    *blanks = GAP + (right ? 0 : width - length);
}

void grid_write(struct grid *grid, const char *indent, struct textw *w)
{
    const char *cell = grid->text.data;
    size_t columns = strlen(grid->columns), width[COLUMNS_MAX] = {0}, blanks = 0;
    if (grid->text.failed) {
        w->failed = true;
        grid->cells = 0;
    }
    measure(grid, columns, width);
    for (size_t i = 0; i < grid->cells; i++, cell += strlen(cell) + 1) {
        size_t column = i % columns;
        if (column == 0) {
            textw_printf(w, "%s", indent);
            blanks = 0;
        }
        write_cell(w, cell, width[column], grid->columns[column] == 'r', &blanks);
        if (column == columns - 1)
            textw_printf(w, "\n");
    }
    grid_finish(grid);
}
