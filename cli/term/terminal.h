/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal behind a stream, if there is one. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

/**
 * Whether the descriptor is a terminal on which lines can be drawn over: one that understands
 * escape sequences. TERM=dumb, or none, says that it does not.
 */
bool terminal_draws(int fd);

/**
 * Sets its extents in characters; an extent that the terminal does not know (0) stays as it was.
 * False: the columns are not known, and nothing is set.
 */
bool terminal_size(int fd, int *rows, int *columns);

#endif /* CLI_TERMINAL_H */
