/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a case again with fewer jobs: `mlictl optimise` for cases of several nodes. */
#ifndef CLI_IMPORT_FUSED_CASE_H
#define CLI_IMPORT_FUSED_CASE_H

#include "cli/import/import.h"
#include "cli/import/import_output.h"

/**
 * Fuses the jobs of the text `chain`, which compares only results that are needed elsewhere, and
 * writes NAME.fused.json if that saves jobs. Sets the members of `root` about it. Returns 0, or -1
 * with the fault.
 */
int fused_case_write(struct import *import, struct import_node *root, struct import_output *output,
                     const struct jsonw *chain, struct fault *fault);

#endif /* CLI_IMPORT_FUSED_CASE_H */
