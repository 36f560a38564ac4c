/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rectangle of characters, each with a role for its colour. Text that exceeds the rectangle is
 * cut off. A failed allocation sets `failed`, as in textw.h.
 */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stdbool.h>

#include "cli/term/colour.h"
#include "proto/json/textw.h"

enum {
    CANVAS_GLYPH_MAX = 5,
    CANVAS_PLAIN = COLOUR_ROLES, /* the role without a colour */
    CANVAS_PALETTE = 16          /* roles from here to 255 are colours of xterm's palette */
};

struct canvas_cell {
    char glyph[CANVAS_GLYPH_MAX]; /* one character in UTF-8; empty: a space */
    unsigned char role;           /* enum colour_role, CANVAS_PLAIN, or a palette colour */
};

struct canvas {
    int width, height;
    struct canvas_cell *cell; /* cells, line by line */
    bool palette;             /* the output has 256 colours: roles may be palette colours */
    bool failed;
};

void canvas_init(struct canvas *canvas, int width, int height);
void canvas_finish(struct canvas *canvas);

/** Puts a text on the line y, one character per cell, from x on. */
void canvas_put(struct canvas *canvas, int x, int y, unsigned role, const char *text);

/** Writes the lines without trailing spaces, with colours if stdout has any (colour.h). */
void canvas_write(struct textw *w, const struct canvas *canvas);

/** Returns the number of cells that a text takes. */
int canvas_text_width(const char *text);

#endif /* CLI_CANVAS_H */
