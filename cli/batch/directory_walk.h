/* SPDX-License-Identifier: BSD-3-Clause */
/* The job files of a directory and of those below it. */
#ifndef CLI_BATCH_WALK_H
#define CLI_BATCH_WALK_H

#include "cli/batch/cases.h"

/**
 * Adds every *.json that is a job file, called by its path below `directory`. What cannot be read,
 * be it a directory, is a case too: it fails. Links are followed, but no directory is looked into
 * twice. Returns 0, or -1 where `directory` itself cannot be read, or without memory.
 */
int walk_add(struct cases *cases, const char *directory, struct fault *fault);

#endif /* CLI_BATCH_WALK_H */
