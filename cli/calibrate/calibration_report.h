/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a calibration, for people and as JSON. */
#ifndef CLI_CALIBRATION_REPORT_H
#define CLI_CALIBRATION_REPORT_H

#include "cli/calibrate/calibration.h"
#include "cli/term/print.h"

/** Writes the figures, and the errors of the check. `output` is the path of the profile or null. */
void calibration_text(struct textw *w, const struct calibration *calibration, const char *output);

/** Writes figures and errors as one object. */
void calibration_json(struct jsonw *w, const struct calibration *calibration, uint64_t seed,
                      const char *output);

#endif /* CLI_CALIBRATION_REPORT_H */
