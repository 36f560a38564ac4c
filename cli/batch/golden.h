/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden files of a batch, for --update-golden. */
#ifndef CLI_BATCH_GOLDEN_H
#define CLI_BATCH_GOLDEN_H

#include <stdbool.h>

#include "cli/job/outcome.h"
#include "cli/job/resolve.h"

/** Returns whether a new golden file or digest would make the job pass. */
bool golden_would_help(const struct outcome *outcome);

/**
 * Writes the output as GOLDEN.new, or as the golden file if this does not exist; writes nothing for
 * a digest. *text becomes the part of a message that reports this (heap; NULL if out of memory).
 * Returns 0 or -1.
 */
int golden_write(const struct resolved *r, char **text, struct fault *fault);

#endif /* CLI_BATCH_GOLDEN_H */
