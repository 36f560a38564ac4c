/* SPDX-License-Identifier: BSD-3-Clause */
/* All tiles of a plan on the tensor, as SVG. */
#ifndef CLI_TILE_PICTURE_H
#define CLI_TILE_PICTURE_H

#include "cli/tile/tile_result.h"
#include "proto/json/textw.h"

/**
 * Draws the plane of rows and columns of the first input with its tiles: what each tile loads is
 * filled, so a halo that several tiles load is darker, and the padding is outside the tensor's
 * frame. Ranges of further axes are strips beside the plane.
 */
void tile_picture(struct textw *w, const struct tile_result *result);

#endif /* CLI_TILE_PICTURE_H */
