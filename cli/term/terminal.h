/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal behind a stream, and its live line: a line at the bottom that changes while other
 * lines are printed above it. The process has one live line.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

/**
 * Returns whether the descriptor is a terminal that understands escape sequences, so that lines can
 * be overwritten. TERM=dumb, or no TERM, means that it does not.
 */
bool terminal_draws(int fd);

/**
 * Reads the terminal's size in characters. Keeps *rows if the terminal does not know its rows.
 * Returns false, with both unchanged, if it does not know its columns.
 */
bool terminal_size(int fd, int *rows, int *columns);

/** Enables the live line on `fd`, standard output or standard error, which terminal_draws(). */
void terminal_line_begin(int fd);
/** Returns the number of characters that the live line may have. */
int terminal_line_columns(void);
/** Shows an ASCII text as the live line, cut to the terminal's width; replaces the text before. */
void terminal_line_show(const char *text);
/** Clears the live line, so that other lines can be printed. */
void terminal_line_hide(void);
bool terminal_line_is_shown(void);
/** Clears and disables the live line. */
void terminal_line_end(void);

#endif /* CLI_TERMINAL_H */
