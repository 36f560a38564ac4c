/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which results of an earlier run are still valid, and explains why others are not. */
#ifndef CLI_BATCH_RESUME_H
#define CLI_BATCH_RESUME_H

#include "cli/batch/cases.h"
#include "cli/batch/contents.h"
#include "cli/batch/report.h"
#include "cli/batch/settings.h"
#include "cli/batch/state_file.h"

struct resume {
    const struct settings *settings;
    const struct state *state;
    const struct setup *setup; /* of this run */
    struct contents *contents;
};

/**
 * Returns the earlier result of the case if it is still valid, else NULL. If the state file has a
 * result that is not valid, batch_case->rerun becomes the reason (NULL without memory).
 */
const struct case_result *resume_find(const struct resume *resume, struct batch_case *batch_case);

/** Reports how many of the cases run again, a line for each reason. */
void resume_tell(struct batch_report *report, struct batch_case *const *cases, size_t count);

#endif /* CLI_BATCH_RESUME_H */
