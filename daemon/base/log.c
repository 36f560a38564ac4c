/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/json/utf8.h"

/* Bytes reserved for the end of a line: a quote, a brace and a newline. */
enum { TAIL = 3 };

enum { TIME_MAX = 32, MS_PER_S = 1000, NS_PER_MS = 1000 * 1000 };

/* Names of the levels, indexed by syslog priorities. */
static const char *const level_words[] = {"emergency", "alert",  "critical", "error",
                                          "warning",   "notice", "info",     "debug"};

static atomic_int threshold = LOG_INFO;
static atomic_int chosen = LOG_FORMAT_TEXT;
static atomic_bool for_journal;
static _Atomic uint32_t lost; /* number of lines lost since the latest written line */

void log_set_level(int level)
{
    atomic_store_explicit(&threshold, level, memory_order_relaxed);
}

void log_set_format(enum log_format format)
{
    atomic_store_explicit(&chosen, (int)format, memory_order_relaxed);
}

void log_set_journal(bool journal)
{
    atomic_store_explicit(&for_journal, journal, memory_order_relaxed);
}

/* systemd sets $JOURNAL_STREAM to "DEVICE:INODE" of the stream that it connected. */
bool log_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char expected[64];
    struct stat st;

    if (!stream || fstat(STDERR_FILENO, &st) < 0)
        return false;
    snprintf(expected, sizeof expected, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return strcmp(stream, expected) == 0;
}

/* Appends all bytes. If they do not fit, appends neither these nor later bytes: half of an escape
 * sequence would be invalid. */
static bool append(struct log_line *line, const char *bytes, size_t length)
{
    if (line->full || length > sizeof line->text - TAIL - line->length) {
        line->full = true;
        return false;
    }
    memcpy(line->text + line->length, bytes, length);
    line->length += length;
    return true;
}

static bool append_text(struct log_line *line, const char *text)
{
    return append(line, text, strlen(text));
}

/* Appends a key, and the quote before its value. */
static bool append_key(struct log_line *line, const char *key, const char *before_value)
{
    char text[64];
    int length =
        snprintf(text, sizeof text, line->json ? ",\"%s\":%s" : " %s=%s", key, before_value);

    return append(line, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Appends the characters of a quoted value. Escapes control characters and line breaks. */
static void append_quoted(struct log_line *line, const char *value)
{
    const char *escape_begin = line->json ? "\\u00" : "\\x";
    size_t left = strlen(value), size;

    for (; left > 0; value += size, left -= size) {
        const unsigned char c = (unsigned char)*value;
        const size_t known = utf8_char(value, left);
        const bool c1 = known == 2 && c == 0xc2 && (unsigned char)value[1] < 0xa0;
        char escape[8];

        size = known ? known : 1;
        if (c1 || c < 0x20 || c == 0x7f) {
            snprintf(escape, sizeof escape, "%s%02x", escape_begin, (unsigned char)value[size - 1]);
            append_text(line, escape);
        } else if (c == '"' || c == '\\') {
            append(line, (const char[]){'\\', (char)c}, 2);
        } else if (known) {
            append(line, value, size);
        } else if (line->json) {
            append_text(line, "\xef\xbf\xbd"); /* U+FFFD: JSON must be UTF-8 */
        } else {
            snprintf(escape, sizeof escape, "%s%02x", escape_begin, c);
            append_text(line, escape);
        }
    }
}

static void append_value(struct log_line *line, const char *value)
{
    append_quoted(line, value);
    line->text[line->length++] = '"'; /* TAIL reserves space for the quote */
    line->full |= line->length > sizeof line->text - TAIL;
}

/* Prints the time in UTC, in the form of RFC 3339. */
static void print_time(char text[TIME_MAX])
{
    struct timespec now;
    struct tm utc;
    size_t length;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    length = strftime(text, TIME_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, TIME_MAX - length, ".%03uZ", (unsigned)(now.tv_nsec / NS_PER_MS));
}

static void append_start(struct log_line *line, int level)
{
    char time[TIME_MAX], start[TIME_MAX + 48];

    if (line->json) {
        print_time(time);
        snprintf(start, sizeof start, "{\"time\":\"%s\",\"priority\":%d,\"event\":\"", time, level);
    } else if (atomic_load_explicit(&for_journal, memory_order_relaxed)) {
        snprintf(start, sizeof start, "<%d>", level);
    } else {
        print_time(time);
        snprintf(start, sizeof start, "%s %s ", time, level_words[level]);
    }
    append_text(line, start);
}

bool log_begin(struct log_line *line, int level, const char *event)
{
    if (level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return false;
    line->json = atomic_load_explicit(&chosen, memory_order_relaxed) == LOG_FORMAT_JSON;
    line->length = 0;
    line->full = false;
    append_start(line, level);
    if (line->json)
        append_value(line, event);
    else
        append_text(line, event);
    return true;
}

bool log_rate_take(struct log_rate *rate, uint64_t now, uint64_t *suppressed)
{
    if (rate->lines == 0 || now - rate->begin >= LOG_RATE_MS) {
        rate->begin = now;
        rate->lines = 0;
    }
    if (rate->lines == LOG_RATE_LINES) {
        rate->suppressed++;
        return false;
    }
    rate->lines++;
    *suppressed = rate->suppressed;
    rate->suppressed = 0;
    return true;
}

bool log_begin_rated(struct log_line *line, int level, const char *event, struct log_rate *rate)
{
    struct timespec now;
    uint64_t suppressed;

    if (!rate)
        return log_begin(line, level, event);
    if (level > atomic_load_explicit(&threshold, memory_order_relaxed))
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!log_rate_take(rate, (uint64_t)now.tv_sec * MS_PER_S + (uint64_t)now.tv_nsec / NS_PER_MS,
                       &suppressed) ||
        !log_begin(line, level, event))
        return false;
    if (suppressed > 0)
        log_uint(line, "suppressed", suppressed);
    return true;
}

void log_uint(struct log_line *line, const char *key, uint64_t value)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, value);
    append_key(line, key, number);
}

void log_text(struct log_line *line, const char *key, const char *value)
{
    if (append_key(line, key, "\""))
        append_value(line, value);
}

void log_errno(struct log_line *line, const char *key, int error)
{
    log_text(line, key, strerror(error));
}

/* send() to a socket does not wait. A pipe that is ready has space for PIPE_BUF bytes. */
static ssize_t write_some(const char *bytes, size_t length)
{
    ssize_t written = send(STDERR_FILENO, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

    return written < 0 && errno == ENOTSOCK ? write(STDERR_FILENO, bytes, length) : written;
}

/*
 * Writes a line without waiting, because a stuck reader of the log must not block the service.
 * Returns false if the line, or a part of it, is lost.
 */
static bool write_line(const struct log_line *line)
{
    struct pollfd poller = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t done = 0;

    _Static_assert(sizeof line->text <= PIPE_BUF, "a line is written to a pipe at once");
    if (poll(&poller, 1, 0) <= 0)
        return false;
    while (done < line->length) {
        const ssize_t written = write_some(line->text + done, line->length - done);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        done += (size_t)written;
    }
    return true;
}

static void finish_line(struct log_line *line)
{
    if (line->json)
        line->text[line->length++] = '}';
    line->text[line->length++] = '\n';
}

/* Reports lost lines as soon as the log can be written again. */
static void report_lost(void)
{
    const uint32_t count = atomic_exchange_explicit(&lost, 0, memory_order_relaxed);
    struct log_line line;

    if (count == 0 || !log_begin(&line, LOG_WARNING, "log lines lost"))
        return;
    log_uint(&line, "lines", count);
    finish_line(&line);
    if (!write_line(&line))
        atomic_fetch_add_explicit(&lost, count, memory_order_relaxed);
}

void log_end(struct log_line *line)
{
    finish_line(line);
    report_lost();
    if (atomic_load_explicit(&lost, memory_order_relaxed) > 0 || !write_line(line))
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
}

void log_one_text(int level, const char *event, const char *key, const char *value)
{
    struct log_line line;

    if (!log_begin(&line, level, event))
        return;
    log_text(&line, key, value);
    log_end(&line);
}

void log_one_uint(int level, const char *event, const char *key, uint64_t value)
{
    struct log_line line;

    if (!log_begin(&line, level, event))
        return;
    log_uint(&line, key, value);
    log_end(&line);
}
