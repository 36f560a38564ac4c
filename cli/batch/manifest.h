/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of cases: a path to each line, relative to the list; comments behind #. */
#ifndef CLI_BATCH_MANIFEST_H
#define CLI_BATCH_MANIFEST_H

#include "cli/batch/cases.h"

/**
 * Adds what the manifest `path` names, "-" being standard input: job files, and the job files of
 * directories. Returns 0, or -1 with a sentence that names the line.
 */
int manifest_add(struct cases *cases, const char *path, struct fault *fault);

#endif /* CLI_BATCH_MANIFEST_H */
