/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/escape.h"

#include <stdbool.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number after "\u" at `text`; -1 where there is none. */
static int32_t unit(const char *text, size_t length)
{
    int32_t code = 0;

    if (length < 6 || text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(text[i]);

        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

int escape_decode(const char *text, size_t length, uint32_t *code)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *name;
    int32_t high, low;

    if (length < 2)
        return ESCAPE_ENDS;
    name = memchr(names, text[1], sizeof names - 1);
    if (name) {
        *code = (uint32_t)meanings[name - names];
        return 2;
    }
    if (text[1] != 'u')
        return ESCAPE_UNKNOWN;
    high = unit(text, length);
    if (high < 0)
        return ESCAPE_DIGITS;
    if (high < 0xd800 || high > 0xdfff) {
        *code = (uint32_t)high;
        return 6;
    }
    low = unit(text + 6, length - 6);
    if (high > 0xdbff || low < 0xdc00 || low > 0xdfff)
        return ESCAPE_SURROGATE;
    *code = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return 12;
}
