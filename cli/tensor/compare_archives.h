/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of two archives, tensor by tensor, by their names. */
#ifndef CLI_COMPARE_ARCHIVES_H
#define CLI_COMPARE_ARCHIVES_H

#include "cli/exit_code.h"
#include "cli/term/print.h"
#include "proto/file/tensor_spec.h"

/**
 * Compares two archives and prints the result of each tensor, sorted by name. Tensors that no job
 * can read are compared by their bytes. Returns EXIT_CODE_DONE if all tensors are equal.
 */
enum exit_code compare_archives(const struct print_style *style, const char *const paths[2],
                                const enum file_format formats[2]);

#endif /* CLI_COMPARE_ARCHIVES_H */
