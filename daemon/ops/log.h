/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines on stderr, one write(2) each: "<6>job done client=3 pid=41 uid=1000 bytes=96". The
 * number is the syslog priority, which a service manager reads. Values from outside are quoted and
 * escaped, so that nobody can write a line of his own.
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

struct log_line {
    size_t length;
    char text[1024]; /* what does not fit is cut */
};

/** Lines of a higher number than `level` are dropped from now on. Any thread. */
void log_set_level(int level);

/** Begins a line; false where its level is not logged, and nothing else is to be called then. */
bool log_begin(struct log_line *line, int level, const char *event);
void log_uint(struct log_line *line, const char *key, uint64_t value);
void log_text(struct log_line *line, const char *key, const char *value);
/** key=strerror(error), error > 0. */
void log_errno(struct log_line *line, const char *key, int error);
void log_end(struct log_line *line);

#endif /* DAEMON_LOG_H */
