/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line at the bottom of a terminal that changes while other lines come above it. There is one for
 * the process, as there is one terminal.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <stdbool.h>

/** From now on there may be a line on `fd`, standard output or standard error, which
 * terminal_draws(). */
void live_begin(int fd);
/** Returns how many characters the line may have. */
int live_columns(void);
/** Shows a line of ASCII, cut to the terminal's width, in place of the one that is shown. */
void live_show(const char *text);
/** Takes the line away, if it is there: other lines may come. */
void live_hide(void);
bool live_is_shown(void);
/** For good. */
void live_end(void);

#endif /* CLI_LIVE_H */
