/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { KIND_MAX = 24, PART_MAX = 32 };

static char plain(char c)
{
    return isalnum((unsigned char)c) && (unsigned char)c < 0x80 ? c
           : c == '-' || c == '.'                               ? c
                                                                : '_';
}

const char *import_name(char out[IMPORT_NAME_MAX], size_t number, size_t total, const char *kind,
                        const char *name)
{
    const size_t length = strlen(name);
    int digits = 1;
    size_t at;

    for (size_t left = total > 0 ? total - 1 : 0; left >= 10; left /= 10)
        digits++;
    at = (size_t)snprintf(out, IMPORT_NAME_MAX, "%0*zu_", digits, number);
    for (size_t i = 0; kind[i] && i < KIND_MAX; i++)
        out[at++] = (char)tolower((unsigned char)plain(kind[i]));
    if (length > 0)
        out[at++] = '_';
    for (const char *c = length > PART_MAX ? name + length - PART_MAX : name; *c; c++)
        out[at++] = plain(*c);
    out[at] = '\0';
    return out;
}
