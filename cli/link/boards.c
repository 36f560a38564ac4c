/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/boards.h"

#include <string.h>

static int absent(const char *url, enum board_misuse misuse, struct fault *fault)
{
    (void)misuse;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "host %.128s: " BOARDS_ABSENT, url);
}

static struct board_link *open_absent(const char *url, struct fault *fault)
{
    absent(url, BOARD_IS_NO_DAEMON, fault);
    return NULL;
}

static const struct board_calls no_boards = {.open = open_absent, .refuse = absent};

const struct board_calls *board_calls = &no_boards;

bool is_board_url(const char *url)
{
    return url && (strncmp(url, "qemu:", strlen("qemu:")) == 0 ||
                   strncmp(url, "serial:", strlen("serial:")) == 0);
}
