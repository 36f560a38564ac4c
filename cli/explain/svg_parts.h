/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of an SVG drawing, which svg_picture.c puts together:
 *
 *     svg_axis.c    captions, ticks and breaks of an axis
 *     svg_side.c    one side with its cells; the legend
 *     svg_steps.c   the arrow between the sides, with the steps of the move
 */
#ifndef CLI_SVG_PARTS_H
#define CLI_SVG_PARTS_H

#include "cli/explain/picture_block.h"
#include "cli/explain/svgw.h"

/* Captions. An axis's caption is its source dimension, extent and a strip of its colours. */

enum { SVG_AXIS_CAPTION = 20 /* height of a caption */ };

/** Returns the width of the widest caption above or below the planes. */
int svg_axis_widest_caption(const struct picture_block *block);

/** Returns whether the rows' caption is above the planes: beside them it would be too long. */
bool svg_axis_caption_is_above(const struct picture_block *block);

/** Draws the caption of a level with its upper left corner at x, y. */
void svg_axis_caption(struct textw *w, const struct picture_block *block, enum picture_level level,
                      int x, int y);

/** Draws the caption of the rows as vertical text that reads upwards, centred at (x, y). */
void svg_axis_caption_beside(struct textw *w, const struct picture_block *block, int x, int y);

/* Ticks and breaks. */

enum { SVG_AXIS_FONT = 9, SVG_AXIS_AWAY = 4 };

/** Returns the width of a label or tick in pixels. */
int svg_axis_text_width(const char *text);

/** Draw the coordinates of the rows left of a plane, and of the columns below it. */
void svg_axis_row_ticks(struct textw *w, const struct picture_block *block,
                        struct picture_area plane);
void svg_axis_column_ticks(struct textw *w, const struct picture_block *block,
                           struct picture_area plane);

/** Draws the breaks of a plane as zigzags. */
void svg_axis_breaks(struct textw *w, const struct picture_block *block, struct picture_area plane);

/** Draw dots and the number of omitted planes, or of omitted lines, in place of these. */
void svg_axis_planes_left_out(struct textw *w, const struct picture_block *block, size_t line,
                              size_t plane);
void svg_axis_lines_left_out(struct textw *w, const struct picture_block *block, size_t line);

/* Sides and legend. */

/** Defines the patterns that svg_side() and the legend use; once per file. */
void svg_side_define(struct textw *w);

/** Draws one side of a move: planes of cells, frames around the window, ticks and captions. */
void svg_side(struct textw *w, const struct picture_block *block);

/** Returns the height of a legend of this width. */
int svg_side_legend_height(const struct picture *picture, int width);

/** Draws the legend: an example of each state's cells and its words. */
void svg_side_legend(struct textw *w, const struct picture *picture, int x, int y, int width);

/* The arrow from source to destination, with the steps of the move and its plan in it. */

enum { SVG_STEPS_WIDTH = 262, SVG_STEPS_HEAD = 30 /* width of the arrow's head */ };

int svg_steps_height(const struct explained *explained);

/** Draws the arrow with its upper left corner at x, y. */
void svg_steps(struct textw *w, const struct explained *explained, int x, int y);

#endif /* CLI_SVG_PARTS_H */
