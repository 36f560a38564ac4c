/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/live.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/term/terminal.h"

enum { COLUMNS_UNKNOWN = 80 };

static int place = -1;
static bool shown;

static FILE *stream(void)
{
    return place == STDOUT_FILENO ? stdout : stderr;
}

/* Asked each time: windows change. The last column stays free, since some terminals go on to the
 * next line when it is taken. */
int live_columns(void)
{
    int rows = 0, columns = COLUMNS_UNKNOWN;
    terminal_size(place, &rows, &columns);
    return columns - 1;
}

void live_begin(int fd)
{
    place = fd;
    shown = false;
}

void live_show(const char *text)
{
    if (place < 0)
        return;
    /* What is new goes over what is old, and the rest is cleared: nothing flickers. */
    fprintf(stream(), "\r%.*s\033[K", live_columns(), text);
    fflush(stream());
    shown = true;
}

void live_hide(void)
{
    if (!shown)
        return;
    shown = false;
    fputs("\r\033[K", stream());
    fflush(stream());
}

bool live_is_shown(void)
{
    return shown;
}

void live_end(void)
{
    live_hide();
    place = -1;
}
