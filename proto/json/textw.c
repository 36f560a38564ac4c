/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/textw.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void textw_init(struct textw *w)
{
    *w = (struct textw){0};
}

void textw_finish(struct textw *w)
{
    free(w->data);
    *w = (struct textw){0};
}

void textw_reset(struct textw *w)
{
    w->length = 0;
    w->failed = false;
    if (w->data)
        w->data[0] = '\0';
}

/* Makes room for `more` bytes and a terminator. */
static bool reserve(struct textw *w, size_t more)
{
    size_t capacity = w->capacity ? w->capacity : 256;
    char *data;

    if (w->capacity - w->length > more)
        return true;
    while (capacity - w->length <= more) {
        if (capacity > SIZE_MAX / 2)
            return false;
        capacity *= 2;
    }
    data = realloc(w->data, capacity);
    if (!data)
        return false;
    w->data = data;
    w->capacity = capacity;
    return true;
}

void textw_printf(struct textw *w, const char *format, ...)
{
    va_list args, again;
    int length;

    if (w->failed)
        return;
    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length < 0 || !reserve(w, (size_t)length)) {
        w->failed = true;
    } else {
        vsnprintf(w->data + w->length, (size_t)length + 1, format, again);
        w->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}
