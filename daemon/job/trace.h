/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channels' timeline in a file (proto/wire/chrome_trace.h). Events are gathered and written in
 * pieces of 64 KiB, or a second after the first of them; without events nothing wakes up. Where the
 * file cannot be written any more the trace stops, with a warning, and nothing else does.
 */
#ifndef DAEMON_TRACE_H
#define DAEMON_TRACE_H

#include "proto/wire/events.h"

struct trace;
struct uv_loop_s;

/**
 * Opens the file, for this user alone; one that is there is emptied. Returns 0 or -errno (-ELOOP:
 * the path is a link; -EEXIST: it is no regular file).
 */
int trace_create(struct uv_loop_s *loop, const char *path, struct trace **out);
/** Writes what there is left, and closes. The memory goes when the loop runs on. Null is fine. */
void trace_destroy(struct trace *trace);

/** On the loop's thread. Null is fine. */
void trace_event(struct trace *trace, const struct event *event);

#endif /* DAEMON_TRACE_H */
