/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints for messages about files that do not exist. */
#ifndef CLI_NEAR_FILE_H
#define CLI_NEAR_FILE_H

#include "cli/term/print.h"

enum { NEAR_FILE_MAX = 64 + PRINT_PATH_MAX };

/**
 * Writes a hint for a path without a file. For a symbolic link: "; it is a link to TARGET, which
 * does not exist". Else "; did you mean NAME?" with the most similar name in the directory, or ""
 * if no name is similar. Returns `out`.
 */
const char *near_file(char out[NEAR_FILE_MAX], const char *path);

#endif /* CLI_NEAR_FILE_H */
