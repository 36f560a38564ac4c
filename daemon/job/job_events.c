/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/job_events.h"

#include "daemon/job/jobs.h"
#include "daemon/job/refs.h"
#include "daemon/job/task.h"
#include "daemon/job/trace.h"

enum { TRACED = 1 << EVENT_QUEUED | 1 << EVENT_STARTED | 1 << EVENT_DONE };

static void count_wanted(struct job_events *events)
{
    events->wanted = events->subscribed | (events->trace ? TRACED : 0);
}

void events_subscribe(struct job_events *events, uint32_t kinds)
{
    events->subscribed = kinds;
    count_wanted(events);
}

void events_set_trace(struct job_events *events, struct trace *trace)
{
    events->trace = trace;
    count_wanted(events);
}

void events_fill(struct event *event, const struct task *task, enum event_kind kind,
                 const struct ending *ending)
{
    event->kind = kind;
    event->dropped = 0;
    event->time_ns = kind == EVENT_QUEUED    ? task->admitted
                     : kind == EVENT_STARTED ? task->end.started
                     : ending                ? ending->when
                                             : uv_hrtime();
    task_info(task, ending, event->time_ns, kind == EVENT_PROGRESS, &event->job);
}

void events_spread(struct jobs *jobs, const struct task *task, enum event_kind kind,
                   const struct ending *ending)
{
    struct event event;

    events_fill(&event, task, kind, ending);
    if (jobs->events.subscribed >> kind & 1)
        jobs->callbacks.event(jobs->callbacks.context, task, &event);
    event.dropped = 0;
    trace_event(jobs->events.trace, &event);
}
