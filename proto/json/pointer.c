/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/pointer.h"

#include <stdio.h>
#include <string.h>

#include "proto/json/utf8.h"

void pointer_init(struct pointer *pointer, char *out, size_t size)
{
    *pointer = (struct pointer){.out = out, .size = size};
    out[0] = '\0';
}

/* All of the bytes or, from the first that do not fit on, nothing more. */
static void append(struct pointer *pointer, const char *bytes, size_t length)
{
    if (pointer->full || length >= pointer->size - pointer->length) {
        pointer->full = true;
        return;
    }
    memcpy(pointer->out + pointer->length, bytes, length);
    pointer->length += length;
    pointer->out[pointer->length] = '\0';
}

void pointer_token(struct pointer *pointer)
{
    append(pointer, "/", 1);
}

void pointer_text(struct pointer *pointer, const char *text, size_t length)
{
    for (size_t i = 0; i < length && !pointer->full;) {
        size_t size = utf8_char(text + i, length - i);

        if (text[i] == '~')
            append(pointer, "~0", 2);
        else if (text[i] == '/')
            append(pointer, "~1", 2);
        else
            append(pointer, text + i, size ? size : 1);
        i += size ? size : 1;
    }
}

void pointer_index(struct pointer *pointer, size_t index)
{
    char text[24];
    int length = snprintf(text, sizeof text, "/%zu", index);

    append(pointer, text, (size_t)length);
}
