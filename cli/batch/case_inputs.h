/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum of all files that a case reads, with which machines compare their cases. */
#ifndef CLI_BATCH_CASE_INPUTS_H
#define CLI_BATCH_CASE_INPUTS_H

#include <stdint.h>

#include "cli/report/fingerprint.h"

/** Returns the checksum of the job file and the files in the fingerprint, without the setup. */
uint64_t case_inputs_of(const struct fingerprint *fingerprint);

/** Reads the job file `path`, and the files that its jobs read. Sets *inputs to their checksum.
 * Returns 0, or -1 if the job file cannot be read. */
int case_inputs_read(const char *path, struct contents *contents, uint64_t *inputs,
                     struct fault *fault);

#endif /* CLI_BATCH_CASE_INPUTS_H */
