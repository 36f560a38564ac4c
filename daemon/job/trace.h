/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace: a timeline of the channels in a file (proto/wire/chrome_trace.h). Events are written
 * in pieces of 64 KiB, or a second after the first event of a piece; without events no timer runs.
 * If the file cannot be written, only the trace stops, with a warning.
 */
#pragma once

#include "proto/wire/events.h"

struct trace;
struct uv_loop_s;

/**
 * Opens the file with mode 0600, and truncates it. Returns 0 or -errno (-ELOOP: the path is a
 * symbolic link; -EEXIST: it is not a regular file).
 */
int trace_create(struct uv_loop_s *loop, const char *path, struct trace **out);
/** Writes the rest and closes the file. Frees the trace in a later close callback of the loop.
 * Accepts NULL. */
void trace_destroy(struct trace *trace);

/** Adds an event. Call it on the loop's thread. Accepts NULL. */
void trace_event(struct trace *trace, const struct event *event);
