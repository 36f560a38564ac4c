/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of a move in characters. */
#ifndef CLI_TEXT_SIDE_H
#define CLI_TEXT_SIDE_H

#include "cli/explain/canvas.h"
#include "cli/explain/picture_block.h"

void text_side_lay_out(struct picture_block *block, const struct picture *picture,
                       const struct picture_side *side, int width);

void text_side_draw(struct canvas *canvas, const struct picture_block *block, int x, int y,
                    bool utf8);

/** What the characters stand for, on lines of at most `width`. */
void text_side_legend(struct textw *w, const struct picture *picture, int width, bool utf8);

#endif /* CLI_TEXT_SIDE_H */
