/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing SVG into a growing buffer, with the conventions of textw.h. Whatever text comes in, what
 * comes out is well-formed XML. Whole numbers only: no locale spells those with a comma.
 */
#ifndef CLI_SVGW_H
#define CLI_SVGW_H

#include <stdbool.h>

#include "proto/json/textw.h"

enum svgw_anchor { SVGW_START, SVGW_MIDDLE, SVGW_END };

/* How a text looks. */
struct svgw_font {
    int size;
    enum svgw_anchor anchor;
    const char *fill; /* "#333" */
    bool bold;
    bool upwards; /* reads from below */
};

struct svgw_box {
    int x, y, width, height;
};

void svgw_begin(struct textw *w, int width, int height);
void svgw_end(struct textw *w);

/** Ends a group. */
void svgw_group_end(struct textw *w);

/* `attributes` are XML as it is. */
void svgw_box(struct textw *w, struct svgw_box box, const char *attributes);
void svgw_line(struct textw *w, int x1, int y1, int x2, int y2, const char *attributes);

/** Any bytes as text: what has to be is escaped, what XML cannot hold is U+FFFD. */
void svgw_text(struct textw *w, int x, int y, const struct svgw_font *font, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Pixels that a text takes at most, in the fonts that people have. */
int svgw_text_width(const char *text, int size);

#endif /* CLI_SVGW_H */
