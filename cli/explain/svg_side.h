/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws one side of a move: planes of cells, the window around them, ticks and captions. */
#ifndef CLI_SVG_SIDE_H
#define CLI_SVG_SIDE_H

#include "cli/explain/picture_block.h"
#include "cli/explain/svgw.h"

/** Patterns and the like that svg_side() refers to; once in a file. */
void svg_side_define(struct textw *w);

void svg_side(struct textw *w, const struct picture_block *block);

/** One cell as an example. */
void svg_side_swatch(struct textw *w, int x, int y, int size, const struct picture *picture,
                     enum picture_state state);

#endif /* CLI_SVG_SIDE_H */
