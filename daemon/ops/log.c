/* SPDX-License-Identifier: BSD-3-Clause */
#include "log.h"

#include <inttypes.h>
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

static void append_text(struct log_line *line, const char *text)
{
    append(line, text, strlen(text));
}

static void append_key(struct log_line *line, const char *key)
{
    append_text(line, " ");
    append_text(line, key);
    append_text(line, "=");
}

bool log_begin(struct log_line *line, int level, const char *event)
{
    char number[16];

    if (level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return false;
    snprintf(number, sizeof number, "<%d>", level);
    line->length = 0;
    append_text(line, number);
    append_text(line, event);
    return true;
}

void log_uint(struct log_line *line, const char *key, uint64_t value)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, value);
    append_key(line, key);
    append_text(line, number);
}

void log_text(struct log_line *line, const char *key, const char *value)
{
    append_key(line, key);
    append_text(line, "\"");
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        char escape[8];

        const bool c1 = c == 0xc2 && (unsigned char)value[1] - 0x80U < 0x20;

        if (c1 || c < 0x20 || c == 0x7f) {
            value += c1;
            snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)*value);
            append_text(line, escape);
        } else {
            append(line, "\\", c == '"' || c == '\\');
            append(line, value, 1);
        }
    }
    append_text(line, "\"");
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
