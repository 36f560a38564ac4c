/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines on stderr, one write(2) each:
 *
 *     2026-11-22T09:05:20.123Z info job done client=3 pid=41 uid=1000 bytes=96
 *     <6>job done client=3 pid=41 uid=1000 bytes=96
 *
 * The second form is for the systemd journal, which has a clock and reads the syslog priority. Text
 * values are quoted and escaped, so that no value can forge a line. With log_format "json" a line
 * has the same keys: {"time":"2026-11-22T09:05:20.123Z","priority":6,"event":"job done",
 * "client":3,"pid":41,"uid":1000,"bytes":96}.
 *
 * A key means the same in all lines: `client`, `pid` and `uid` name a connection, `id` is the
 * number of a job, `job` its name, `error` an error code or the system's message, `why` and `text`
 * are sentences.
 *
 *     struct log_line line;
 *     if (log_begin(&line, LOG_INFO, "job done")) {
 *         log_uint(&line, "bytes", bytes);
 *         log_end(&line);
 *     }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h> /* only for the numbers LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG */

struct log_rate;

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_line {
    bool json, full;
    size_t length;
    char text[1024]; /* text of the line; a value that does not fit is cut, and later values are
                        left out */
};

/** Drops lines of levels with a higher number from now on. Thread-safe. */
void log_set_level(int level);

/** Sets the format of later lines. Thread-safe. */
void log_set_format(enum log_format format);

/** Returns whether stderr is connected to the systemd journal ($JOURNAL_STREAM). */
bool log_is_journal(void);
/** Sets the form of text lines: for the journal, or with the time first (default). Thread-safe. */
void log_set_journal(bool journal);

/**
 * Begins a line. Returns false if its level is not logged: then call no other function for the
 * line.
 */
bool log_begin(struct log_line *line, int level, const char *event);
/**
 * Begins a line that clients can cause at will. Also returns false if the rate is exceeded. A null
 * rate has no limit.
 */
bool log_begin_rated(struct log_line *line, int level, const char *event, struct log_rate *rate);
void log_uint(struct log_line *line, const char *key, uint64_t value);
void log_text(struct log_line *line, const char *key, const char *value);
/** Adds key=strerror(error), error > 0. */
void log_errno(struct log_line *line, const char *key, int error);
void log_end(struct log_line *line);

/** Logs a line with one text or number. */
void log_one_text(int level, const char *event, const char *key, const char *value);
void log_one_uint(int level, const char *event, const char *key, uint64_t value);

/*
 * Limits log lines that a client can cause at will: LOG_RATE_LINES in LOG_RATE_MS, then no line
 * until that time has passed. The next line reports how many lines were suppressed.
 */
enum { LOG_RATE_LINES = 20, LOG_RATE_MS = 10 * 1000 };

/* Counts of recent lines of one kind; 0 at the start. */
struct log_rate {
    uint64_t begin;      /* start of the current time span, in ms */
    uint32_t lines;      /* lines written in the current time span */
    uint64_t suppressed; /* lines suppressed since the latest line that was written */
};

/* Kinds of lines; each user has one limit for each kind. */
enum log_kind {
    LOG_KIND_REFUSED, /* lines about jobs and requests */
    LOG_KIND_FAILED,
    LOG_KIND_STREAM,
    LOG_KIND_CONNECTED,
    LOG_KIND_DISCONNECTED,
    LOG_KINDS
};

/**
 * Returns true if a line may be written now: then *suppressed receives the number of lines that
 * were suppressed since the previous line. Otherwise counts the line as suppressed. `now` is the
 * time of a monotonic clock in ms.
 */
bool log_rate_take(struct log_rate *rate, uint64_t now, uint64_t *suppressed);
