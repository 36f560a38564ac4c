/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
