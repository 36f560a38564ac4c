/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/phrase.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct phrase phrase_init(char *text, size_t size)
{
    text[0] = '\0';
    return (struct phrase){.text = text, .size = size};
}

void phrase_add(struct phrase *phrase, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(phrase->text + phrase->length, phrase->size - phrase->length, format, args);
    va_end(args);
    phrase->length += strlen(phrase->text + phrase->length);
}
