/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates beside planes, and marks where some are left out. */
#ifndef CLI_SVG_TICKS_H
#define CLI_SVG_TICKS_H

#include "cli/explain/picture_block.h"
#include "cli/explain/svgw.h"

enum { SVG_TICKS_FONT = 9, SVG_TICKS_AWAY = 4 };

/** Pixels that a label or tick takes. */
int svg_ticks_text_width(const char *text);

/** Coordinates of the rows, left of a plane, and of the columns, below it. */
void svg_ticks_rows(struct textw *w, const struct picture_block *block, struct picture_area plane);
void svg_ticks_columns(struct textw *w, const struct picture_block *block,
                       struct picture_area plane);

/** Break lines through a plane. */
void svg_ticks_breaks(struct textw *w, const struct picture_block *block,
                      struct picture_area plane);

/** Dots and a number in the place of planes, or of lines of them. */
void svg_ticks_planes_left_out(struct textw *w, const struct picture_block *block, size_t line,
                               size_t plane);
void svg_ticks_lines_left_out(struct textw *w, const struct picture_block *block, size_t line);

#endif /* CLI_SVG_TICKS_H */
