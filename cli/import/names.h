/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of files and jobs from names in a model. */
#pragma once

#include <stddef.h>

enum { IMPORT_NAME_MAX = 80 };

/**
 * Writes "0012_transpose_features": the number, `kind` in lower case, and the end of `name`, with
 * only the characters A-Z a-z 0-9 _ . -. The number makes names unique, even in file systems that
 * ignore case, and sorts them. `total` is the largest number plus one. Returns `out`.
 */
const char *import_name(char out[IMPORT_NAME_MAX], size_t number, size_t total, const char *kind,
                        const char *name);
