/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/term/terminal.h"

bool terminal_draws(int fd)
{
    const char *kind = getenv("TERM");
    return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fd);
}

bool terminal_size(int fd, int *rows, int *columns)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col == 0)
        return false;
    if (size.ws_row > 0)
        *rows = size.ws_row;
    *columns = size.ws_col;
    return true;
}

enum { COLUMNS_UNKNOWN = 80 };

static int place = -1;
static bool shown;

static FILE *stream(void)
{
    return place == STDOUT_FILENO ? stdout : stderr;
}

/*
 * Reads the size each time, because the window may have been resized. The last column stays free:
 * some terminals wrap to the next line once that column is used.
 */
int terminal_line_columns(void)
{
    int rows = 0, columns = COLUMNS_UNKNOWN;
    terminal_size(place, &rows, &columns);
    return columns - 1;
}

void terminal_line_begin(int fd)
{
    place = fd;
    shown = false;
}

void terminal_line_show(const char *text)
{
    if (place < 0)
        return;
    /* Overwrite the old text and clear the rest, so that the line does not flicker. */
    fprintf(stream(), "\r%.*s\033[K", terminal_line_columns(), text);
    fflush(stream());
    shown = true;
}

void terminal_line_hide(void)
{
    if (!shown)
        return;
    shown = false;
    fputs("\r\033[K", stream());
    fflush(stream());
}

bool terminal_line_is_shown(void)
{
    return shown;
}

void terminal_line_end(void)
{
    terminal_line_hide();
    place = -1;
}

static bool disabled, forced;

static bool wanted(FILE *stream)
{
    const char *refused = getenv("NO_COLOR");
    if (disabled || forced)
        return !disabled;
    if (refused && *refused)
        return false;
    /* fileno() does not work here: streams_init() replaces stdout and stderr by its own streams. */
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
