/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Characters on a rectangle, each with a role for its colour; what is put beyond the rectangle is
 * cut off. A failed allocation is remembered in `failed`, as in textw.h.
 */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stdbool.h>

#include "cli/term/colour.h"
#include "proto/json/textw.h"

enum {
    CANVAS_GLYPH_MAX = 5,
    CANVAS_PLAIN = COLOUR_ROLES, /* a role: no colour */
    CANVAS_PALETTE = 16          /* roles from here to 255: this colour of xterm's 256 */
};

struct canvas_cell {
    char glyph[CANVAS_GLYPH_MAX]; /* one character in UTF-8; empty: a space */
    unsigned char role;           /* enum colour_role, CANVAS_PLAIN, or a palette colour */
};

struct canvas {
    int width, height;
    struct canvas_cell *cell; /* line by line */
    bool palette;             /* palette colours may be used as roles */
    bool failed;
};

void canvas_init(struct canvas *canvas, int width, int height);
void canvas_finish(struct canvas *canvas);

/** Puts each character of a text on a cell of its own, from x on. */
void canvas_put(struct canvas *canvas, int x, int y, unsigned role, const char *text);

/** Writes the lines, without spaces at their ends, in the colours that stdout has (colour.h). */
void canvas_write(struct textw *w, const struct canvas *canvas);

/** Cells that a text takes. */
int canvas_text_width(const char *text);

#endif /* CLI_CANVAS_H */
