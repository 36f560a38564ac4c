/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int threshold = LOG_INFO;

void log_set_level(int level)
{
    atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

/* One byte is kept for the newline. */
static void append(struct log_line *line, const char *bytes, size_t length)
{
    size_t room = sizeof line->text - 1 - line->length;

    if (length > room)
        length = room;
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
}

static void appendf(struct log_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void appendf(struct log_line *line, const char *format, ...)
{
    char text[128];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length > 0)
        append(line, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

bool log_begin(struct log_line *line, int level, const char *event)
{
    if (level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return false;
    line->length = 0;
    appendf(line, "<%d>%s", level, event);
    return true;
}

void log_uint(struct log_line *line, const char *key, uint64_t value)
{
    appendf(line, " %s=%" PRIu64, key, value);
}

void log_text(struct log_line *line, const char *key, const char *value)
{
    appendf(line, " %s=\"", key);
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;

        if (c < 0x20 || c == 0x7f)
            appendf(line, "\\x%02x", c);
        else if (c == '"' || c == '\\')
            appendf(line, "\\%c", c);
        else
            append(line, value, 1);
    }
    append(line, "\"", 1);
}

void log_errno(struct log_line *line, const char *key, int error)
{
    log_text(line, key, strerror(error));
}

void log_end(struct log_line *line)
{
    ssize_t written;

    line->text[line->length++] = '\n';
    /* A log that cannot be written has nobody to tell about it. */
    written = write(STDERR_FILENO, line->text, line->length);
    (void)written;
}
