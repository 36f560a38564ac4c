/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Colours: a few roles, for people only. There are none where the stream is no terminal, where
 * NO_COLOR is set to anything (https://no-color.org), with TERM=dumb, and with --json.
 *
 *     fprintf(stdout, "%sdone%s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout));
 *
 * print_coloured() does it for a word in a line. What comes from outside goes through print.h,
 * which lets no escape sequence of it pass.
 */
#ifndef CLI_COLOUR_H
#define CLI_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

enum colour_role {
    COLOUR_GOOD,   /* done, the same */
    COLOUR_BAD,    /* failed, differs; "mlictl:" before an error */
    COLOUR_WARN,   /* skipped, cancelled */
    COLOUR_FAINT,  /* what is there for completeness */
    COLOUR_STRONG, /* what the eye is to find */
    COLOUR_ROLES
};

/** No colours from now on: --json, --color never. */
void colour_disable(void);
/** Uses colours from now on, for every stream and environment: --color always. */
void colour_force(void);

/** What begins and ends a stretch of a role on stdout or stderr: "" where there are no colours. */
const char *colour_begin(FILE *stream, enum colour_role role);
const char *colour_end(FILE *stream);

/** Returns whether stdout takes the 256 colours of xterm, of which "\033[38;5;Nm" begins N. */
bool colour_has_palette(void);

#endif /* CLI_COLOUR_H */
