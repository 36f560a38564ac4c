/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of the new job file. */
#ifndef CLI_REWRITE_H
#define CLI_REWRITE_H

#include <stdbool.h>

#include "cli/optimise/program.h"
#include "proto/json/jsonw.h"

/**
 * Writes the jobs that are alive, in the order of execution, with the sources that fusion_find()
 * chose, and the buffers that they use. `path`: the job file for which relative names are
 * rewritten; null: that of the program. Returns 0, or -1 with the fault. If a job would need too
 * many names in "after", sets `needed` of the removed jobs before it, and *again: the caller
 * chooses again.
 */
int rewrite(struct program *p, bool raw, const char *path, struct jsonw *w, bool *again,
            struct fault *fault);

#endif /* CLI_REWRITE_H */
