/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line that does a failed job again. */
#ifndef CLI_BATCH_AGAIN_H
#define CLI_BATCH_AGAIN_H

#include "cli/options.h"

/**
 * "mlictl run --engine mock batch-failed/a/job.json", for a shell: on the same service as the
 * options of the batch say. Heap; null: no memory.
 */
char *again_command(const struct options *options, const char *job_file);

#endif /* CLI_BATCH_AGAIN_H */
