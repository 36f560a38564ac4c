/* SPDX-License-Identifier: BSD-3-Clause */
/* The durations of cases as a drawing: the number of cases for each range of times. */
#ifndef CLI_REPORT_HTML_DURATIONS_H
#define CLI_REPORT_HTML_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/textw.h"

/* Bins: four for each decade, from below 1 us to 1000 s and more. */
enum { DURATIONS_PER_DECADE = 4, DURATIONS_BINS = 9 * DURATIONS_PER_DECADE + 2 };

struct durations {
    size_t count[DURATIONS_BINS];
    size_t all;
};

void durations_add(struct durations *durations, uint64_t ns);
/** Writes the drawing; nothing if there are no cases. */
void durations_write(struct textw *w, const struct durations *durations);

#endif /* CLI_REPORT_HTML_DURATIONS_H */
