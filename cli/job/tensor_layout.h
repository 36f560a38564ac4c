/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job's output will look like, and whether its file can hold that. */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include "cli/job/resolve.h"

/**
 * From the inputs and the job's cfg: `result` (what the move gives), `whole` (the output file as
 * it will be) and wire.dst. Returns 0 or -1.
 */
int layout_find(struct resolved *resolved, struct fault *fault);

#endif /* CLI_LAYOUT_H */
