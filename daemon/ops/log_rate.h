/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bound on log lines that a client can cause at will: LOG_RATE_LINES in LOG_RATE_MS, then none
 * until that time has passed. The next line says how many were left out.
 */
#ifndef DAEMON_LOG_RATE_H
#define DAEMON_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>

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

#endif /* DAEMON_LOG_RATE_H */
