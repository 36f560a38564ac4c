/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a drawing, which svg_picture.c puts together. */
#ifndef CLI_SVG_PARTS_H
#define CLI_SVG_PARTS_H

#include "cli/explain/picture_block.h"
#include "cli/explain/svgw.h"

/* The name of an axis: its source dimension, how long it is, and how colours go along it. */

enum { SVG_AXIS_CAPTION = 20 /* its height */ };

/** What the captions above and below the planes take at most. */
int svg_axis_widest_caption(const struct picture_block *block);

/** Whether the caption of the rows, which reads upwards beside them, has to stand above them. */
bool svg_axis_caption_is_above(const struct picture_block *block);

/** Draws the caption of a level from x, y on, its upper left corner; SVG_AXIS_CAPTION high. */
void svg_axis_caption(struct textw *w, const struct picture_block *block, enum picture_level level,
                      int x, int y);

/** The same for the rows, which have their place beside the planes: x, y is their middle. */
void svg_axis_caption_beside(struct textw *w, const struct picture_block *block, int x, int y);

/* Coordinates beside planes, and marks where some are left out. */

enum { SVG_AXIS_FONT = 9, SVG_AXIS_AWAY = 4 };

/** Pixels that a label or tick takes. */
int svg_axis_text_width(const char *text);

/** Coordinates of the rows, left of a plane, and of the columns, below it. */
void svg_axis_row_ticks(struct textw *w, const struct picture_block *block,
                        struct picture_area plane);
void svg_axis_column_ticks(struct textw *w, const struct picture_block *block,
                           struct picture_area plane);

/** Break lines through a plane. */
void svg_axis_breaks(struct textw *w, const struct picture_block *block, struct picture_area plane);

/** Dots and a number in the place of planes, or of lines of them. */
void svg_axis_planes_left_out(struct textw *w, const struct picture_block *block, size_t line,
                              size_t plane);
void svg_axis_lines_left_out(struct textw *w, const struct picture_block *block, size_t line);

/* Draws one side of a move: planes of cells, the window around them, ticks and captions. */

/** Patterns and the like that svg_side() refers to; once in a file. */
void svg_side_define(struct textw *w);

void svg_side(struct textw *w, const struct picture_block *block);

/* What the cells of a drawing stand for. */

int svg_side_legend_height(const struct picture *picture, int width);

void svg_side_legend(struct textw *w, const struct picture *picture, int x, int y, int width);

/* The arrow from the source to the destination, with the steps of the move in it, and its plan. */

enum { SVG_STEPS_WIDTH = 262, SVG_STEPS_HEAD = 30 /* the arrow's, of that */ };

int svg_steps_height(const struct explained *explained);

/** Draws it with its upper left corner at x, y. */
void svg_steps(struct textw *w, const struct explained *explained, int x, int y);

#endif /* CLI_SVG_PARTS_H */
