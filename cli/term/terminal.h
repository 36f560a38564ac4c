/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal behind a stream, its colours, and its live line: a line at the bottom that changes
 * while other lines are printed above it. The process has one live line.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

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

/**
 * Enables the live line on `fd`, standard output or standard error; terminal_draws(fd) must be
 * true.
 */
void terminal_line_begin(int fd);
/** Returns the number of characters that the live line may have. */
int terminal_line_columns(void);
/** Shows an ASCII text as the new live line, cut to the terminal's width. */
void terminal_line_show(const char *text);
/** Clears the live line, so that other lines can be printed. */
void terminal_line_hide(void);
bool terminal_line_is_shown(void);
/** Clears and disables the live line. */
void terminal_line_end(void);

/*
 * Colours by role. Output has no colours if the stream is not a terminal, if NO_COLOR is not empty
 * (https://no-color.org), with TERM=dumb, and with --json.
 *
 *     fprintf(stdout, "%sdone%s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout));
 *
 * print_coloured() colours a word in a line. Print names and texts from files with print.h, which
 * removes escape sequences.
 */

enum colour_role {
    COLOUR_GOOD,   /* colour of "done", "equal" */
    COLOUR_BAD,    /* colour of "failed", "differs", and of "mlictl:" before an error */
    COLOUR_WARN,   /* colour of "skipped", "cancelled" */
    COLOUR_FAINT,  /* details */
    COLOUR_STRONG, /* for headings and highlights */
    COLOUR_ROLES
};

/** Disables colours: --json, --color never. */
void colour_disable(void);
/** Enables colours for all streams and environments: --color always. */
void colour_force(void);

/** Return the escape sequences before and after coloured text, or "" without colours. The stream is
 *  stdout or stderr. */
const char *colour_begin(FILE *stream, enum colour_role role);
const char *colour_end(FILE *stream);

/** Returns whether stdout supports xterm's 256 colours; "\033[38;5;Nm" begins colour N. */
bool colour_has_palette(void);
