/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the case of some nodes: sources, expected results, and the job file. */
#ifndef CLI_IMPORT_CASE_FILE_H
#define CLI_IMPORT_CASE_FILE_H

#include "cli/import/import.h"
#include "cli/import/import_output.h"

/** Writes the case with the first node `root`. Returns 0, or -1 with the fault. */
int case_file_write(struct import *import, size_t root, struct import_output *output,
                    struct fault *fault);

#endif /* CLI_IMPORT_CASE_FILE_H */
