/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden files as they would be if what a job gave were right. */
#ifndef CLI_BATCH_GOLDEN_H
#define CLI_BATCH_GOLDEN_H

#include "cli/job/outcome.h"
#include "cli/job/resolve.h"
#include "proto/json/fault.h"

/** Whether the outcome is one that another golden file or digest would mend. */
bool golden_would_do(const struct outcome *outcome);

/**
 * Writes the output beside the golden file, as GOLDEN.new, or where there is none as the golden
 * file; of a digest nothing. *text becomes what was done, a part of a sentence (heap; null without
 * memory). Returns 0 or -1.
 */
int golden_write(const struct resolved *resolved, char **text, struct fault *fault);

#endif /* CLI_BATCH_GOLDEN_H */
