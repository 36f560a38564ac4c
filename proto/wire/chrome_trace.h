/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of jobs as Chrome trace events (JSON array format), for Perfetto and chrome://tracing. The
 * process "mlid" has a track for each channel with the transfers: job, client, bytes and end. The
 * process "queue" has a track for each client with the times in which its jobs were queued, as
 * asynchronous events because these times overlap. A counter shows the jobs queued and running.
 * Times are microseconds since the first event, with three decimals.
 */
#pragma once

#include "proto/json/jsonw.h"
#include "proto/wire/events.h"

/* The first bytes of each trace. */
#define CHROME_TRACE_BEGIN "[\n{\"ph\":\"M\",\"name\":\"process_name\""

struct chrome_trace {
    uint64_t origin_ns; /* time 0 of the trace; 0: no event yet */
    int pid;          /* the next two processes of the trace get the numbers pid + 1 and pid + 2 */
    uint64_t written; /* entries of the trace so far, names of tracks included */
    uint64_t named[64]; /* the named tracks; when the table is full, later tracks get no name */
    uint32_t named_count;
    uint32_t queued, running;
};

void chrome_trace_init(struct chrome_trace *trace);
/** Writes the beginning of a trace. `process`, in ASCII, is the name of the process with the
 * channels. Without chrome_trace_end() the trace is valid too: readers accept a missing bracket. */
void chrome_trace_begin(struct chrome_trace *trace, const char *process, struct textw *w);
/** Begins another process in the trace. Time 0 is the same for all processes. */
void chrome_trace_continue(struct chrome_trace *trace, const char *process, struct textw *w);
/** Writes the Chrome trace events for one event of a job. A transfer is written when it has ended;
 * a transfer that began before the first event is cut to begin there. */
void chrome_trace_event(struct chrome_trace *trace, const struct event *event, struct textw *w);
void chrome_trace_end(struct chrome_trace *trace, struct textw *w);
