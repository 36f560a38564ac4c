/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a chart, which timeline_chart.c puts together (timeline_chart.h). */
#ifndef CLI_TIMELINE_PARTS_H
#define CLI_TIMELINE_PARTS_H

#include <stdint.h>

#include "cli/explain/svgw.h"
#include "cli/explain/timeline_chart.h"

/* The place of a panel's time axis in the drawing. */
struct timeline_scale {
    int x, width;     /* pixels of time 0, and from there to `span_ns` */
    uint64_t span_ns; /* at least 1 */
};

/** Returns the x of a time; a time after the span is at its end. */
static inline int timeline_x(const struct timeline_scale *scale, uint64_t ns)
{
    if (ns >= scale->span_ns)
        return scale->x + scale->width;
    return scale->x + (int)((double)ns / (double)scale->span_ns * scale->width + 0.5);
}

const char *timeline_kind_word(enum timeline_kind kind);
const char *timeline_kind_fill(enum timeline_kind kind);

enum { TIMELINE_TIME_MAX = 40 };
/** Writes a time in microseconds with `decimals` digits (0 to 3) after the point, in any locale.
 * Returns `out`. */
const char *timeline_micros(char out[TIMELINE_TIME_MAX], uint64_t ns, int decimals);

/** Returns the height of a panel's lanes. */
int timeline_lanes_height(const struct timeline_panel *panel);

/** Draws the lanes from y on. Returns whether slots were drawn in groups. */
bool timeline_lanes_draw(struct textw *w, const struct timeline_panel *panel,
                         const struct timeline_scale *scale, int y);

/** Returns the height of a panel's memories. */
int timeline_memory_height(const struct timeline_panel *panel);

/** Draws the bytes in use of a panel's memories from y on. */
void timeline_memory_draw(struct textw *w, const struct timeline_panel *panel,
                          const struct timeline_scale *scale, int y);

#endif /* CLI_TIMELINE_PARTS_H */
