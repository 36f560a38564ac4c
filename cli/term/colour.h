/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours by role. Output has no colours if the stream is not a terminal, if NO_COLOR is not empty
 * (https://no-color.org), with TERM=dumb, and with --json.
 *
 *     fprintf(stdout, "%sdone%s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout));
 *
 * print_coloured() colours a word in a line. Print names and texts from files with print.h, which
 * removes escape sequences.
 */
#ifndef CLI_COLOUR_H
#define CLI_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

enum colour_role {
    COLOUR_GOOD,   /* for "done", "equal" */
    COLOUR_BAD,    /* for "failed", "differs", and "mlictl:" before an error */
    COLOUR_WARN,   /* for "skipped", "cancelled" */
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

#endif /* CLI_COLOUR_H */
