/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean", for files that are not there. */
#ifndef CLI_NEAR_FILE_H
#define CLI_NEAR_FILE_H

enum { NEAR_FILE_MAX = 64 };

/**
 * "; did you mean NAME?" with a name of the same directory that the path's last part is most likely
 * a slip of; "" where there is none. Returns `out`.
 */
const char *near_file(char out[NEAR_FILE_MAX], const char *path);

#endif /* CLI_NEAR_FILE_H */
