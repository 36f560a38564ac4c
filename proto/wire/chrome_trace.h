/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channels' timeline as Chrome trace events (JSON array format, whose closing
 * bracket may be missing), for Perfetto and
 * chrome://tracing. One process "mlid" with a track for each channel, on which lie the transfers
 * with their job, client, bytes and end; one process "queue" with a track for each client, on which
 * lie the times that its jobs were queued (asynchronous events, since they overlap); and a counter
 * of jobs queued and running. Times are microseconds with three decimals, from the first event on.
 */
#ifndef PROTO_CHROME_TRACE_H
#define PROTO_CHROME_TRACE_H

#include "proto/json/textw.h"
#include "proto/wire/events.h"

struct chrome_trace {
    uint64_t origin_ns; /* 0: no event yet */
    bool any;
    uint64_t named[64]; /* tracks that were given names; a full table gives no more */
    uint32_t named_count;
    uint32_t queued, running;
};

void chrome_trace_init(struct chrome_trace *trace);
/** What a file begins with. A reader takes it also without chrome_trace_end(): a trace that was
 *  cut short is still one. */
void chrome_trace_begin(struct chrome_trace *trace, struct textw *w);
/** Appends what there is to tell of an event. A stretch of time is told when it has ended, since
 * then all of it is known; what began before the first event is cut there. */
void chrome_trace_event(struct chrome_trace *trace, const struct event *event, struct textw *w);
void chrome_trace_end(struct chrome_trace *trace, struct textw *w);

#endif /* PROTO_CHROME_TRACE_H */
