/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule of a plan as a drawing and as a trace. */
#ifndef CLI_TILE_TIMELINE_H
#define CLI_TILE_TIMELINE_H

#include "cli/tile/tile_result.h"

/**
 * Draws the schedule to `svg` and writes it as a trace for Perfetto to `trace`; either may be null.
 * The request has a board. Returns 0, or -1 with the fault.
 */
int tile_timeline_save(const struct tile_result *result, const char *svg, const char *trace,
                       struct fault *fault);

#endif /* CLI_TILE_TIMELINE_H */
