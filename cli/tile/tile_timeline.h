/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule of a plan as a drawing and as a trace. */
#ifndef CLI_TILE_TIMELINE_H
#define CLI_TILE_TIMELINE_H

#include "cli/tile/tile_result.h"
#include "proto/json/textw.h"

/** Draws the schedule as SVG. The request has a board. Returns 0, or -1 with the fault. */
int tile_timeline_draw(struct textw *w, const struct tile_result *result, struct fault *fault);

/** Writes the schedule as a trace for Perfetto, likewise. */
int tile_timeline_trace(struct textw *w, const struct tile_result *result, struct fault *fault);

#endif /* CLI_TILE_TIMELINE_H */
