/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints about files that are not there. */
#ifndef CLI_NEAR_FILE_H
#define CLI_NEAR_FILE_H

#include "cli/term/print.h"

enum { NEAR_FILE_MAX = 64 + PRINT_PATH_MAX };

/**
 * Writes what may be wrong with a path that leads to no file. A symbolic link: "; it is a link to
 * TARGET, which does not exist". Else "; did you mean NAME?" with the name of the same directory
 * that is most like the path's last part, or "" if no name is. Returns `out`.
 */
const char *near_file(char out[NEAR_FILE_MAX], const char *path);

#endif /* CLI_NEAR_FILE_H */
