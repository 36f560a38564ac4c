/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer of SVG into a growing buffer, with the conventions of jsonw.h. Its output is well-formed
 * XML for any text. Numbers are integers, since some locales write a decimal comma.
 */
#pragma once

#include <stdbool.h>

#include "proto/json/jsonw.h"

enum svgw_anchor { SVGW_START, SVGW_MIDDLE, SVGW_END };

struct svgw_font {
    int size;
    enum svgw_anchor anchor;
    const char *fill; /* "#333" */
    bool bold;
    bool upwards; /* true: rotated by 90 degrees */
};

struct svgw_box {
    int x, y, width, height;
};

void svgw_begin(struct textw *w, int width, int height);
void svgw_end(struct textw *w);

/** Ends a group. */
void svgw_group_end(struct textw *w);

/* Writes an element; `attributes` are XML and are not escaped. */
void svgw_box(struct textw *w, struct svgw_box box, const char *attributes);
/** Writes a box with a title, which viewers show for the box under the pointer. */
void svgw_titled_box(struct textw *w, struct svgw_box box, const char *attributes,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void svgw_line(struct textw *w, int x1, int y1, int x2, int y2, const char *attributes);
void svgw_circle(struct textw *w, int x, int y, int radius, const char *fill);

/** Writes a text: escapes special characters, and writes U+FFFD for bytes that XML forbids. */
void svgw_text(struct textw *w, int x, int y, const struct svgw_font *font, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/** Returns an upper estimate of a text's width in common fonts, in pixels. */
int svgw_text_width(const char *text, int size);
