/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of an axis: its source dimension, how long it is, and how colours go along it. */
#ifndef CLI_SVG_CAPTION_H
#define CLI_SVG_CAPTION_H

#include "cli/explain/picture_block.h"
#include "cli/explain/svgw.h"

enum { SVG_CAPTION = 20 /* its height */ };

/** What the captions above and below the planes take at most. */
int svg_caption_widest(const struct picture_block *block);

/** Whether the caption of the rows, which reads upwards beside them, has to stand above them. */
bool svg_caption_is_above(const struct picture_block *block);

/** Draws the caption of a level from x, y on, its upper left corner; SVG_CAPTION high. */
void svg_caption(struct textw *w, const struct picture_block *block, enum picture_level level,
                 int x, int y);

/** The same for the rows, which have their place beside the planes: x, y is their middle. */
void svg_caption_beside(struct textw *w, const struct picture_block *block, int x, int y);

#endif /* CLI_SVG_CAPTION_H */
