/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file/output.h"
#include "cli/term/print.h"

/* The trace's time of cycle 0, in ns: a trace event has no time 0. */
#define ORIGIN_NS UINT64_C(1)

void timeline_init(struct timeline *timeline, const struct target_profile *profile)
{
    char name[PROFILE_NAME_MAX + 16];

    *timeline = (struct timeline){.profile = profile};
    schedule_init(&timeline->schedule, profile->dma.channels);
    textw_init(&timeline->trace);
    chrome_trace_init(&timeline->chrome);
    timeline->chrome.origin_ns = ORIGIN_NS;
    snprintf(name, sizeof name, "model of %s", profile->name);
    chrome_trace_begin(&timeline->chrome, name, &timeline->trace);
}

void timeline_finish(struct timeline *timeline)
{
    free(timeline->ends);
    textw_finish(&timeline->trace);
}

/* Begins the jobs of another file. Returns 0, or -1 if out of memory. */
static int change_file(struct timeline *timeline, const struct job_file *file)
{
    if (timeline->file == file)
        return 0;
    free(timeline->ends);
    timeline->ends = calloc(file->list.count, sizeof *timeline->ends);
    timeline->file = file;
    timeline->file_ready = timeline->schedule.end;
    return timeline->ends ? 0 : -1;
}

/* Returns when the predecessors of a job have ended. */
static profile_cost ready_at(const struct timeline *timeline, const struct job_file *file,
                             size_t index)
{
    profile_cost ready = timeline->file_ready;

    for (size_t i = 0; i < file->list.jobs[index].after_count; i++) {
        const profile_cost end = timeline->ends[file->after[index][i]];

        if (end > ready)
            ready = end;
    }
    return ready;
}

static void trace(struct timeline *timeline, const struct job_spec *job,
                  const struct explained_board *board, const struct schedule_slot *slot)
{
    const struct target_profile *profile = timeline->profile;
    struct event event = {.kind = EVENT_DONE,
                          .time_ns = ORIGIN_NS + cost_ns(profile, slot->end),
                          .job = {.job = timeline->jobs,
                                  .state = JOB_STATE_DONE,
                                  .client = 1,
                                  .channels = board->channels,
                                  .first_channel = (int32_t)slot->first_channel,
                                  .bytes = board->cost.written.bytes,
                                  .bytes_done = board->cost.written.bytes}};

    event.job.ns_moving = cost_ns(profile, slot->end) - cost_ns(profile, slot->start);
    if (job->common.name)
        snprintf(event.job.name, sizeof event.job.name, "%s", job->common.name);
    chrome_trace_event(&timeline->chrome, &event, &timeline->trace);
}

void timeline_add(struct timeline *timeline, const struct job_file *file, size_t index,
                  const struct explained_board *board)
{
    struct schedule_slot slot;

    if (change_file(timeline, file) < 0) {
        timeline->trace.failed = true;
        return;
    }
    timeline->jobs++;
    slot = schedule_place(&timeline->schedule, ready_at(timeline, file, index), board->channels,
                          board->cost.total);
    timeline->ends[index] = slot.end;
    trace(timeline, &file->list.jobs[index], board, &slot);
}

void timeline_text(struct textw *w, const struct timeline *timeline)
{
    const struct schedule *schedule = &timeline->schedule;
    char cycles[PROFILE_COST_TEXT_MAX], time[PRINT_TEXT_MAX], sum[PRINT_TEXT_MAX];

    textw_printf(
        w, "\n%zu job%s on %s: %s cycles, %s with %" PRIu32 " channel%s; one after the other %s\n",
        timeline->jobs, print_s(timeline->jobs), timeline->profile->name,
        profile_cost_text(cycles, schedule->end),
        print_time(time, cost_ns(timeline->profile, schedule->end)), schedule->channels,
        print_s(schedule->channels), print_time(sum, cost_ns(timeline->profile, schedule->sum)));
}

void timeline_json(struct jsonw *w, const struct timeline *timeline)
{
    const struct schedule *schedule = &timeline->schedule;
    char cycles[PROFILE_COST_TEXT_MAX];

    jsonw_object_begin(w, NULL);
    jsonw_object_begin(w, "timeline");
    jsonw_string(w, "profile", timeline->profile->name);
    jsonw_uint(w, "jobs", timeline->jobs);
    jsonw_string(w, "cycles", profile_cost_text(cycles, schedule->end));
    jsonw_uint(w, "ns", cost_ns(timeline->profile, schedule->end));
    jsonw_uint(w, "sum_ns", cost_ns(timeline->profile, schedule->sum));
    jsonw_array_begin(w, "busy_ns");
    for (uint32_t i = 0; i < schedule->channels; i++)
        jsonw_uint(w, NULL, cost_ns(timeline->profile, schedule->busy[i]));
    jsonw_array_end(w);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

/* Refuses to replace a file that is not a trace: a trace begins with '['. */
static int check_replaced(const char *path, struct fault *fault)
{
    FILE *file = fopen(path, "rb");
    const int first = file ? fgetc(file) : EOF;

    if (file)
        fclose(file);
    if (first == EOF || first == '[')
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "%s: exists and is not a trace; choose another file", path);
}

int timeline_save(struct timeline *timeline, const char *path, struct fault *fault)
{
    struct output output;
    struct textw *w = &timeline->trace;
    int status;

    chrome_trace_end(&timeline->chrome, w);
    if (w->failed)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    if (check_replaced(path, fault))
        return -1;
    status = output_init(&output, path, NULL, fault);
    if (status == 0)
        status = output_write(&output, w->data, w->length, 0, fault);
    if (status == 0)
        status = output_commit(&output, false, fault);
    output_finish(&output);
    return status;
}
