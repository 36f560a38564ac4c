/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/jsonw.h"
#include "proto/json/utf8.h"

/* Makes space for `more` bytes and a terminator after `length` bytes. Returns false if it fails. */
static bool grow(char **data, size_t length, size_t *capacity, size_t more)
{
    size_t wanted = *capacity ? *capacity : 256;
    char *grown;

    if (*capacity - length > more)
        return true;
    while (wanted - length <= more) {
        if (wanted > SIZE_MAX / 2)
            return false;
        wanted *= 2;
    }
    grown = realloc(*data, wanted);
    if (!grown)
        return false;
    *data = grown;
    *capacity = wanted;
    return true;
}

/* Text */

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

void textw_printf(struct textw *w, const char *format, ...)
{
    va_list args, again;
    int length;

    if (w->failed)
        return;
    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length < 0 || !grow(&w->data, w->length, &w->capacity, (size_t)length)) {
        w->failed = true;
    } else {
        vsnprintf(w->data + w->length, (size_t)length + 1, format, again);
        w->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

/* JSON */

/* The largest number that readers of the protocol accept. */
static const int64_t int_max = (INT64_C(1) << 53) - 1;

void jsonw_init(struct jsonw *w)
{
    *w = (struct jsonw){0};
}

void jsonw_init_object(struct jsonw *w)
{
    jsonw_init(w);
    jsonw_object_begin(w, NULL);
}

void jsonw_init_lines(struct jsonw *w, uint8_t lines)
{
    *w = (struct jsonw){.lines = lines};
}

void jsonw_finish(struct jsonw *w)
{
    free(w->data);
    *w = (struct jsonw){0};
}

void jsonw_reset(struct jsonw *w)
{
    w->length = 0;
    w->failed = w->comma = w->named = false;
    w->depth = 0;
}

/* Makes space for `more` bytes and a terminator. */
static bool reserve(struct jsonw *w, size_t more)
{
    w->failed = w->failed || !grow(&w->data, w->length, &w->capacity, more);
    return !w->failed;
}

static void append(struct jsonw *w, const char *bytes, size_t length)
{
    if (!reserve(w, length))
        return;
    memcpy(w->data + w->length, bytes, length);
    w->length += length;
}

static void append_char(struct jsonw *w, char c)
{
    append(w, &c, 1);
}

const char *jsonw_text(struct jsonw *w)
{
    if (!reserve(w, 0))
        return NULL;
    w->data[w->length] = '\0';
    return w->data;
}

static void append_control(struct jsonw *w, char c)
{
    char text[8];

    switch (c) {
    case '\b': /* short escapes: JSON that was read must not become longer when it is written */
        append(w, "\\b", 2);
        return;
    case '\f':
        append(w, "\\f", 2);
        return;
    case '\n':
        append(w, "\\n", 2);
        return;
    case '\r':
        append(w, "\\r", 2);
        return;
    case '\t':
        append(w, "\\t", 2);
        return;
    default:
        snprintf(text, sizeof text, "\\u%04x", (unsigned)c);
        append(w, text, 6);
    }
}

static void append_quoted(struct jsonw *w, const char *text)
{
    size_t left = strlen(text);

    append_char(w, '"');
    while (left > 0) {
        size_t size = utf8_plain(text, left);

        if (size > 0) {
            append(w, text, size);
            text += size;
            left -= size;
            continue;
        }
        size = utf8_char(text, left);
        if (size == 0) {
            append(w, "\xef\xbf\xbd", 3);
            size = 1;
        } else if (*text == '"' || *text == '\\') {
            append_char(w, '\\');
            append_char(w, *text);
        } else if (size == 1 && *text < 0x20) {
            append_control(w, *text);
        } else {
            append(w, text, size);
        }
        text += size;
        left -= size;
    }
    append_char(w, '"');
}

static char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static void append_line(struct jsonw *w, unsigned depth)
{
    append_char(w, '\n');
    for (unsigned i = 0; i < depth; i++)
        append(w, "  ", 2);
}

/* Begins a value in text that people read (w->lines is not 0). */
static void begin_line(struct jsonw *w, const char *key)
{
    if (w->comma)
        append_char(w, ',');
    if (!w->named && w->depth > 0 && w->depth <= w->lines)
        append_line(w, w->depth);
    else if (w->comma)
        append_char(w, ' ');
    w->comma = true;
    w->named = false;
    if (key) {
        append_char(w, '"');
        append(w, key, strlen(key));
        append(w, "\": ", 3);
    }
}

/*
 * Writes the comma and the key before a value, and makes space for a value of `room` bytes. Returns
 * the address of this space, at w->length, or null if there is no memory.
 */
static char *begin(struct jsonw *w, const char *key, size_t room)
{
    const size_t length = key ? strlen(key) : 0;
    char *at;

    if (w->lines) {
        begin_line(w, key);
        return reserve(w, room) ? w->data + w->length : NULL;
    }
    if (!reserve(w, length + 4 + room))
        return NULL;
    at = w->data + w->length;
    if (w->comma)
        *at++ = ',';
    w->comma = true;
    if (key) {
        *at++ = '"';
        at = put(at, key, length);
        *at++ = '"';
        *at++ = ':';
    }
    w->length = (size_t)(at - w->data);
    return at;
}

void jsonw_key(struct jsonw *w, const char *text)
{
    begin(w, NULL, 0);
    append_quoted(w, text);
    append(w, ": ", w->lines ? 2 : 1);
    w->comma = false;
    w->named = true;
}

static void open_container(struct jsonw *w, const char *key, char bracket)
{
    char *at = begin(w, key, 1);

    if (at)
        *at = bracket;
    w->length += at != NULL;
    w->comma = false;
    w->depth += w->lines > 0;
}

static void close_container(struct jsonw *w, char bracket)
{
    if (w->lines && w->depth-- <= w->lines && w->comma)
        append_line(w, w->depth);
    append_char(w, bracket);
    w->comma = true;
}

void jsonw_object_begin(struct jsonw *w, const char *key)
{
    open_container(w, key, '{');
}

void jsonw_object_end(struct jsonw *w)
{
    close_container(w, '}');
}

void jsonw_array_begin(struct jsonw *w, const char *key)
{
    open_container(w, key, '[');
}

void jsonw_array_end(struct jsonw *w)
{
    close_container(w, ']');
}

static size_t count_digits(uint64_t value)
{
    size_t digits = 1;

    for (uint64_t power = 10; value >= power; power *= 10) /* value is at most 2^53 */
        digits++;
    return digits;
}

void jsonw_int(struct jsonw *w, const char *key, int64_t value)
{
    char *at = begin(w, key, 24);
    uint64_t left;
    size_t digits;

    if (!at)
        return;
    if (value < 0)
        *at++ = '-';
    left = (uint64_t)(value < -int_max ? int_max : value < 0 ? -value : value);
    if (left > (uint64_t)int_max)
        left = (uint64_t)int_max;
    digits = count_digits(left);
    for (size_t i = digits; i-- > 0; left /= 10)
        at[i] = (char)('0' + left % 10);
    w->length += digits + (value < 0);
}

void jsonw_uint(struct jsonw *w, const char *key, uint64_t value)
{
    jsonw_int(w, key, value > (uint64_t)int_max ? int_max : (int64_t)value);
}

void jsonw_bool(struct jsonw *w, const char *key, bool value)
{
    begin(w, key, 0);
    append(w, value ? "true" : "false", value ? 4 : 5);
}

void jsonw_null(struct jsonw *w, const char *key)
{
    begin(w, key, 0);
    append(w, "null", 4);
}

void jsonw_string(struct jsonw *w, const char *key, const char *text)
{
    begin(w, key, 0);
    append_quoted(w, text);
}

void jsonw_raw(struct jsonw *w, const char *key, const char *json)
{
    begin(w, key, 0);
    append(w, json, strlen(json));
}

void jsonw_newline(struct jsonw *w)
{
    append_char(w, '\n');
    w->comma = false;
}
