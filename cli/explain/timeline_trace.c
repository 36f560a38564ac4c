/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "cli/explain/save_text.h"
#include "cli/explain/timeline.h"
#include "cli/term/print.h"
#include "proto/wire/chrome_trace.h"

/* The trace's time of cycle 0, in ns: a trace event has no time 0. */
#define ORIGIN_NS UINT64_C(1)

/* Writes a slot as a transfer that has ended. */
static void write_slot(struct chrome_trace *trace, struct textw *w,
                       const struct timeline_slot *slot, uint64_t number, uint64_t bytes)
{
    struct event event = {.kind = EVENT_DONE,
                          .time_ns = ORIGIN_NS + slot->end_ns,
                          .job = {.job = number,
                                  .state = JOB_STATE_DONE,
                                  .client = 1,
                                  .channels = slot->lanes,
                                  .first_channel = (int32_t)slot->lane,
                                  .ns_moving = slot->end_ns - slot->start_ns,
                                  .bytes = bytes,
                                  .bytes_done = bytes}};

    if (slot->name)
        snprintf(event.job.name, sizeof event.job.name, "%s", slot->name);
    chrome_trace_event(trace, &event, w);
}

void timeline_trace(struct textw *w, const struct timeline *timeline)
{
    const struct measured *measured = timeline->measured;
    struct chrome_trace trace;
    char name[PROFILE_NAME_MAX + 16];

    chrome_trace_init(&trace);
    trace.origin_ns = ORIGIN_NS;
    snprintf(name, sizeof name, "model of %s", timeline->profile->name);
    chrome_trace_begin(&trace, name, w);
    for (size_t i = 0; i < timeline->slot_count; i++)
        write_slot(&trace, w, &timeline->slots[i], i + 1, timeline->bytes[i]);
    if (measured) {
        chrome_trace_continue(&trace, "measured", w);
        for (size_t i = 0; i < measured->slot_count; i++)
            write_slot(&trace, w, &measured->slots[i], i + 1, measured->bytes[i]);
    }
    chrome_trace_end(&trace, w);
}

int timeline_trace_save(const struct timeline *timeline, const char *path, struct fault *fault)
{
    struct textw w;

    textw_init(&w);
    timeline_trace(&w, timeline);
    w.failed |= timeline->failed;
    if (w.failed || strcmp(path, "-") != 0)
        return save_text(&w, path, CHROME_TRACE_BEGIN, "a trace of mli", fault);
    print_text(&w);
    textw_finish(&w);
    return 0;
}
