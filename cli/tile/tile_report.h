/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan of tiles for people and for programs. */
#ifndef CLI_TILE_REPORT_H
#define CLI_TILE_REPORT_H

#include "cli/tile/tile_result.h"

/** Writes tables: the layer, the tiles, the buffers, the traffic, and the time on a board. */
void tile_report_text(struct textw *w, const struct tile_result *result);

/** Writes one object with the members of mlictl-tile(1). */
void tile_report_json(struct jsonw *w, const struct tile_result *result);

/** Writes the layer in one line, such as "3x3 window: (56, 56, 64) -> (54, 54, 64) sa8". */
void tile_report_layer(struct textw *w, const struct tile_result *result);

#endif /* CLI_TILE_REPORT_H */
