/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of jobs (queued, started, progress, done) for subscribers and for the trace. Each kind is
 * sent from one place with events_send(), which costs one branch if the kind is not wanted.
 *
 * To add an event, add it to EVENT_TABLE (proto/wire/events.h), send it where it happens, and
 * describe it in proto/PROTOCOL.md.
 */
#ifndef DAEMON_JOB_EVENTS_H
#define DAEMON_JOB_EVENTS_H

#include <stdint.h>

#include "proto/wire/events.h"

struct ending;
struct jobs;
struct task;
struct trace;

struct job_events {
    uint32_t wanted;     /* kinds that a subscriber or the trace wants: bit 1 << enum event_kind */
    uint32_t subscribed; /* kinds of events that a subscriber wants */
    struct trace *trace; /* null: no trace */
};

/** Makes the jobs call jobs_callbacks.event for events of these kinds from now on. */
void events_subscribe(struct job_events *events, uint32_t kinds);
/** Writes events to a trace from now on. The trace must outlive the jobs or be replaced by null. */
void events_set_trace(struct job_events *events, struct trace *trace);

/** Fills an event. `ending` is null unless the kind is EVENT_DONE. */
void events_fill(struct event *event, const struct task *task, enum event_kind kind,
                 const struct ending *ending);
/** Fills and sends an event. Use events_send() (jobs.h). */
void events_spread(struct jobs *jobs, const struct task *task, enum event_kind kind,
                   const struct ending *ending);

#endif /* DAEMON_JOB_EVENTS_H */
