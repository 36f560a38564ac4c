/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/chrome_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "mli_mov_api.h"

/* The numbers of the trace's two processes, relative to trace->pid; PIDS: how many there are. */
enum { PID_CHANNELS = 1, PID_QUEUE = 2, PIDS = 2 };

void chrome_trace_init(struct chrome_trace *trace)
{
    *trace = (struct chrome_trace){0};
}

/* Writes the separator before an event. */
static void next(struct chrome_trace *trace, struct textw *w)
{
    textw_printf(w, trace->written++ ? ",\n" : "\n");
}

static void name_process(struct chrome_trace *trace, struct textw *w, int pid, const char *name)
{
    pid += trace->pid;
    next(trace, w);
    textw_printf(w,
                 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,"
                 "\"args\":{\"name\":\"%s\"}},\n"
                 "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"tid\":0,"
                 "\"args\":{\"sort_index\":%d}}",
                 pid, name, pid, pid);
    trace->written++; /* these are two entries, and next() has counted one */
}

void chrome_trace_begin(struct chrome_trace *trace, const char *process, struct textw *w)
{
    textw_printf(w, "[");
    name_process(trace, w, PID_CHANNELS, process);
    name_process(trace, w, PID_QUEUE, "queue");
}

void chrome_trace_continue(struct chrome_trace *trace, const char *process, struct textw *w)
{
    trace->pid += PIDS;
    trace->queued = trace->running = 0;
    name_process(trace, w, PID_CHANNELS, process);
}

void chrome_trace_end(struct chrome_trace *trace, struct textw *w)
{
    (void)trace;
    textw_printf(w, "\n]\n");
}

/* Writes a track's name before the first event of the track. */
static void name_track(struct chrome_trace *trace, struct textw *w, int pid, uint64_t tid)
{
    const uint64_t key = (uint64_t)(trace->pid + pid) << 56 | tid;

    for (uint32_t i = 0; i < trace->named_count; i++) {
        if (trace->named[i] == key)
            return;
    }
    if (trace->named_count == sizeof trace->named / sizeof *trace->named)
        return;
    trace->named[trace->named_count++] = key;
    next(trace, w);
    textw_printf(w,
                 "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%" PRIu64
                 ",\"args\":{\"name\":\"%s %" PRIu64 "\"}}",
                 trace->pid + pid, tid, pid == PID_CHANNELS ? "channel" : "client", tid);
}

/* Writes the job's name or number as a JSON string: clients choose names freely. */
static void write_name(struct textw *w, const struct job_info *job)
{
    char number[32];
    struct jsonw quoted;
    const char *text;

    snprintf(number, sizeof number, "job %" PRIu64, job->job);
    jsonw_init(&quoted);
    jsonw_string(&quoted, NULL, job->name[0] ? job->name : number);
    text = jsonw_text(&quoted);
    if (text)
        textw_printf(w, "\"name\":%s", text);
    else
        w->failed = true;
    jsonw_finish(&quoted);
}

/* Writes the microseconds since the origin of the trace, or 0 for an earlier time. */
static void write_time(const struct chrome_trace *trace, struct textw *w, uint64_t at)
{
    uint64_t ns = at > trace->origin_ns ? at - trace->origin_ns : 0;

    textw_printf(w, "\"ts\":%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static uint64_t before(uint64_t at, uint64_t ns)
{
    return at > ns ? at - ns : 0;
}

static void write_args(struct textw *w, const struct job_info *job)
{
    textw_printf(w,
                 "\"args\":{\"job\":%" PRIu64 ",\"client\":%" PRIu64 ",\"uid\":%" PRIu32
                 ",\"bytes\":%" PRIu64 ",\"bytes_done\":%" PRIu64 ",\"state\":\"%s\"%s%s%s}}",
                 job->job, job->client, job->uid, job->bytes, job->bytes_done,
                 job_state_name(job->state), job->error ? ",\"error\":\"" : "",
                 job->error ? fault_name(job->error->code) : "", job->error ? "\"" : "");
}

/* Writes the beginning or end of a job's time in the queue, as an asynchronous event because these
 * times overlap. */
static void write_queue_edge(struct chrome_trace *trace, struct textw *w,
                             const struct job_info *job, char phase, uint64_t at)
{
    next(trace, w);
    textw_printf(w,
                 "{\"ph\":\"%c\",\"cat\":\"queued\",\"id\":\"%" PRIu64
                 "\",\"pid\":%d,\"tid\":%" PRIu64 ",",
                 phase, job->job, trace->pid + PID_QUEUE, job->client);
    write_name(w, job);
    textw_printf(w, ",");
    write_time(trace, w, at);
    textw_printf(w, ",");
    write_args(w, job);
}

static void write_queued(struct chrome_trace *trace, struct textw *w, const struct job_info *job,
                         uint64_t end)
{
    name_track(trace, w, PID_QUEUE, job->client);
    write_queue_edge(trace, w, job, 'b', before(end, job->ns_queued));
    write_queue_edge(trace, w, job, 'e', end);
}

static void write_transfer(struct chrome_trace *trace, struct textw *w, const struct job_info *job,
                           uint64_t channel, uint64_t end)
{
    uint64_t begin = before(end, job->ns_moving), ns;

    if (begin < trace->origin_ns)
        begin = trace->origin_ns;
    ns = before(end, begin);
    name_track(trace, w, PID_CHANNELS, channel);
    next(trace, w);
    textw_printf(w, "{\"ph\":\"X\",\"cat\":\"transfer\",\"pid\":%d,\"tid\":%" PRIu64 ",",
                 trace->pid + PID_CHANNELS, channel);
    write_name(w, job);
    textw_printf(w, ",");
    write_time(trace, w, begin);
    textw_printf(w, ",\"dur\":%" PRIu64 ".%03" PRIu64 ",", ns / 1000, ns % 1000);
    write_args(w, job);
}

static void write_counter(struct chrome_trace *trace, struct textw *w, uint64_t at)
{
    next(trace, w);
    textw_printf(w, "{\"ph\":\"C\",\"name\":\"jobs\",\"pid\":%d,\"tid\":0,",
                 trace->pid + PID_CHANNELS);
    write_time(trace, w, at);
    textw_printf(w, ",\"args\":{\"queued\":%" PRIu32 ",\"running\":%" PRIu32 "}}", trace->queued,
                 trace->running);
}

/* Decrements a count, but not below 0: the event that incremented it may be lost or too old. */
static void drop(uint32_t *count)
{
    *count -= *count > 0;
}

static void write_done(struct chrome_trace *trace, struct textw *w, const struct event *event)
{
    const struct job_info *job = &event->job;

    if (job->first_channel < 0) {
        drop(&trace->queued);
        write_queued(trace, w, job, event->time_ns);
        return;
    }
    drop(&trace->running);
    for (uint32_t i = 0; i < job->channels && i < MLI_MOV_MAX_CHANNELS; i++)
        write_transfer(trace, w, job, (uint64_t)job->first_channel + i, event->time_ns);
}

void chrome_trace_event(struct chrome_trace *trace, const struct event *event, struct textw *w)
{
    if (event->kind == EVENT_PROGRESS)
        return;
    if (trace->origin_ns == 0)
        trace->origin_ns =
            before(before(event->time_ns, event->job.ns_moving), event->job.ns_queued);
    if (event->kind == EVENT_QUEUED) {
        trace->queued++;
    } else if (event->kind == EVENT_STARTED) {
        drop(&trace->queued);
        trace->running++;
        write_queued(trace, w, &event->job, event->time_ns);
    } else {
        write_done(trace, w, event);
    }
    write_counter(trace, w, event->time_ns);
}
