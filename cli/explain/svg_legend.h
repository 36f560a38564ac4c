/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cells of a drawing stand for. */
#ifndef CLI_SVG_LEGEND_H
#define CLI_SVG_LEGEND_H

#include "cli/explain/picture.h"
#include "proto/json/textw.h"

int svg_legend_height(const struct picture *picture, int width);

void svg_legend(struct textw *w, const struct picture *picture, int x, int y, int width);

#endif /* CLI_SVG_LEGEND_H */
