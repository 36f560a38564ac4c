/* SPDX-License-Identifier: BSD-3-Clause */
/* A plot of predicted against measured times, on logarithmic axes, as SVG. */
#ifndef BENCH_CALIBRATE_PLOT_H
#define BENCH_CALIBRATE_PLOT_H

#include "cli/calibrate/calibration.h"

/** Writes the plot of the checked moves to `path`. Returns 0, or -1 after printing what is wrong.
 */
int plot_write(const struct calibration *calibration, const char *path);

#endif /* BENCH_CALIBRATE_PLOT_H */
