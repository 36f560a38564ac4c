/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrow from the source to the destination, with the steps of the move in it, and its plan. */
#ifndef CLI_SVG_STEPS_H
#define CLI_SVG_STEPS_H

#include "cli/explain/picture.h"
#include "cli/explain/svgw.h"

enum { SVG_STEPS_WIDTH = 262, SVG_STEPS_HEAD = 30 /* the arrow's, of that */ };

int svg_steps_height(const struct explained *explained);

/** Draws it with its upper left corner at x, y. */
void svg_steps(struct textw *w, const struct explained *explained, int x, int y);

#endif /* CLI_SVG_STEPS_H */
