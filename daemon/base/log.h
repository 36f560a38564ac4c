/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines on stderr, one write(2) each:
 *
 *     2026-11-22T09:05:20.123Z info job done client=3 pid=41 uid=1000 bytes=96
 *     <6>job done client=3 pid=41 uid=1000 bytes=96
 *
 * The second form is for the systemd journal, which has a clock and reads the syslog priority.
 * Values from outside are quoted and escaped, so that nobody can write a line of his own. Or, with
 * the same keys, as JSON: {"time":"2026-11-22T09:05:20.123Z","priority":6,"event":"job done",
 * "client":3,"pid":41,"uid":1000,"bytes":96}.
 *
 * One key means the same in all lines: `client`, `pid` and `uid` are a connection, `id` is a job's
 * number, `job` its name, `error` a code or what the system said, `why` and `text` a sentence.
 *
 *     struct log_line line;
 *     if (log_begin(&line, LOG_INFO, "job done")) {
 *         log_uint(&line, "bytes", bytes);
 *         log_end(&line);
 *     }
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG: the numbers only */

struct log_rate;

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_line {
    bool json, full;
    size_t length;
    char text[1024]; /* what does not fit is cut, and what follows left out */
};

/** Lines of a higher number than `level` are dropped from now on. Any thread. */
void log_set_level(int level);

/** What lines look like from now on. Any thread. */
void log_set_format(enum log_format format);

/** True where stderr is connected to the systemd journal ($JOURNAL_STREAM). */
bool log_is_journal(void);
/** Sets the form of text lines: that for the journal, or with the time (default). Any thread. */
void log_set_journal(bool journal);

/** Begins a line; false where its level is not logged, and nothing else is to be called then. */
bool log_begin(struct log_line *line, int level, const char *event);
/** The same for a line that a client can cause at will; false also where the rate is exceeded. A
 *  null rate has no bound. */
bool log_begin_rated(struct log_line *line, int level, const char *event, struct log_rate *rate);
void log_uint(struct log_line *line, const char *key, uint64_t value);
void log_text(struct log_line *line, const char *key, const char *value);
/** key=strerror(error), error > 0. */
void log_errno(struct log_line *line, const char *key, int error);
void log_end(struct log_line *line);

/*
 * A bound on log lines that a client can cause at will: LOG_RATE_LINES in LOG_RATE_MS, then none
 * until that time has passed. The next line says how many were left out.
 */
enum { LOG_RATE_LINES = 20, LOG_RATE_MS = 10 * 1000 };

/* Lines of one kind. Zeros are one without lines. */
struct log_rate {
    uint64_t begin;      /* ms: of the current time span */
    uint32_t lines;      /* written in it */
    uint64_t suppressed; /* since the last line that was written */
};

/* Kinds of lines that each user has a bound of its own for. */
enum log_kind {
    LOG_KIND_REFUSED, /* jobs and requests */
    LOG_KIND_FAILED,
    LOG_KIND_STREAM,
    LOG_KIND_CAME,
    LOG_KIND_LEFT,
    LOG_KINDS
};

/**
 * True where a line may be written now; *suppressed is how many were left out before it. Else the
 * line counts as left out. `now` in ms, of a clock that never goes back.
 */
bool log_rate_take(struct log_rate *rate, uint64_t now, uint64_t *suppressed);

#endif /* DAEMON_LOG_H */
