/* SPDX-License-Identifier: BSD-3-Clause */
/* The standard streams of picolibc: the console of the board. */
#include <stdio.h>

#include "boards/firmware/board.h"

static int put(char c, FILE *file)
{
    (void)file;
    board_write(&c, 1);
    return (unsigned char)c;
}

static FILE console = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);

FILE *const stdout = &console;
FILE *const stderr = &console;
FILE *const stdin = NULL;
