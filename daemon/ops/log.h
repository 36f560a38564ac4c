/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines on stderr, one write(2) each: "<6>job done client=3 pid=41 uid=1000 bytes=96". The
 * number is the syslog priority, which a service manager reads. Values from outside are quoted and
 * escaped, so that nobody can write a line of his own. Or, with the same keys, as JSON:
 * {"priority":6,"event":"job done","client":3,"pid":41,"uid":1000,"bytes":96}.
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

/** Begins a line; false where its level is not logged, and nothing else is to be called then. */
bool log_begin(struct log_line *line, int level, const char *event);
void log_uint(struct log_line *line, const char *key, uint64_t value);
void log_text(struct log_line *line, const char *key, const char *value);
/** key=strerror(error), error > 0. */
void log_errno(struct log_line *line, const char *key, int error);
void log_end(struct log_line *line);

#endif /* DAEMON_LOG_H */
