/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/terminal.h"

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
