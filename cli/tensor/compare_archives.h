/* SPDX-License-Identifier: BSD-3-Clause */
/* Two archives compared: every tensor of the same name, and those that only one of them has. */
#ifndef CLI_COMPARE_ARCHIVES_H
#define CLI_COMPARE_ARCHIVES_H

#include "cli/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/tensor_spec.h"

/**
 * Tells it in the order of the names. Tensors that no job can take are compared by their bytes.
 * Returns EXIT_CODE_DONE where all are the same.
 */
enum exit_code compare_archives(const struct print_style *style, const char *const paths[2],
                                const enum file_format formats[2]);

#endif /* CLI_COMPARE_ARCHIVES_H */
