/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/firmware/board.h"
#include "boards/firmware/lib/firmware.h"

enum { ARGUMENTS_MAX = 32, TEXT_MAX = 512, CRASHED = 70 };

/* From the linker script. */
extern char bss_begin[], bss_end[];

int main(int argc, char **argv);

/* Splits the text at spaces. Returns the number of words. */
static int split(char *text, char **words, int most)
{
    int count = 0;

    while (*text && count < most) {
        while (*text == ' ')
            *text++ = '\0';
        if (*text)
            words[count++] = text;
        while (*text && *text != ' ')
            text++;
    }
    return count;
}

void firmware_start(void)
{
    static char text[TEXT_MAX], *words[ARGUMENTS_MAX + 1];
    int count;

    memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
    board_init();
    if (!board_arguments(text, sizeof(text)))
        text[0] = '\0';
    count = split(text, words, ARGUMENTS_MAX);
    board_exit(main(count, words));
}

void firmware_crash(const char *what, uint64_t cause, uint64_t at, uint64_t address)
{
    (void)board_interrupts(false);
    printf("\ncrash: %s, cause 0x%" PRIx64 ", instruction at 0x%" PRIx64 ", address 0x%" PRIx64
           "\n",
           what, cause, at, address);
    board_exit(CRASHED);
}

/* Replaces that of the C library, which needs more of a system. */
void exit(int status)
{
    board_exit(status);
}

/* Replaces that of the C library, which raises a signal. */
void abort(void)
{
    (void)board_interrupts(false);
    printf("\naborted\n");
    board_exit(CRASHED);
}
