/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/term/terminal.h"

static bool disabled, forced;

static bool wanted(FILE *stream)
{
    const char *refused = getenv("NO_COLOR");
    if (disabled || forced)
        return !disabled;
    if (refused && *refused)
        return false;
    /* fileno() does not work here: streams.c replaces stdout and stderr by its own streams. */
    return terminal_draws(stream == stderr ? STDERR_FILENO : STDOUT_FILENO);
}

void colour_disable(void)
{
    disabled = true;
}

void colour_force(void)
{
    forced = true;
}

bool colour_has_palette(void)
{
    const char *terminal = getenv("TERM"), *more = getenv("COLORTERM");
    return wanted(stdout) && ((terminal && strstr(terminal, "256color")) || (more && *more));
}

const char *colour_begin(FILE *stream, enum colour_role role)
{
    static const char *const codes[COLOUR_ROLES] = {[COLOUR_GOOD] = "\033[32m",
                                                    [COLOUR_BAD] = "\033[31m",
                                                    [COLOUR_WARN] = "\033[33m",
                                                    [COLOUR_FAINT] = "\033[2m",
                                                    [COLOUR_STRONG] = "\033[1m"};
    return wanted(stream) ? codes[role] : "";
}

const char *colour_end(FILE *stream)
{
    return wanted(stream) ? "\033[0m" : "";
}
