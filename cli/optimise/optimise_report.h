/* SPDX-License-Identifier: BSD-3-Clause */
/* What `mlictl optimise` found in one job file: a table, or an object. */
#ifndef CLI_OPTIMISE_REPORT_H
#define CLI_OPTIMISE_REPORT_H

#include "cli/optimise/optimise.h"
#include "proto/json/textw.h"

/** Writes the table, the fused and removed jobs, and the reasons for jobs that stay. */
void optimise_report_text(struct textw *w, const struct optimised *result);

/** Writes the same as one object, with all jobs. */
void optimise_report_json(struct jsonw *w, const struct optimised *result);

#endif /* CLI_OPTIMISE_REPORT_H */
