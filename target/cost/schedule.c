/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/cost/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS_AT_FIRST = 256 };

/* A span of time with one load of the bus; it ends where the next span begins; the last span has
 * no end. */
struct bus_span {
    profile_cost from;
    double load; /* part of the bus that the jobs take in the span, 0 to 1 */
};

static profile_cost later(profile_cost a, profile_cost b)
{
    return a > b ? a : b;
}

void schedule_init(struct schedule *schedule, uint32_t channels)
{
    *schedule = (struct schedule){.channels = channels};
}

void schedule_finish(struct schedule *schedule)
{
    free(schedule->spans);
    schedule->spans = NULL;
}

/* Returns the time at which all channels from `first` to `first` + `count` - 1 are free. */
static profile_cost free_at(const struct schedule *schedule, uint32_t first, uint32_t count)
{
    profile_cost at = 0;

    for (uint32_t i = first; i < first + count; i++)
        at = later(at, schedule->free_at[i]);
    return at;
}

/* Drops the spans that end before any channel is free: no further job can begin there. */
static void drop_past(struct schedule *schedule)
{
    profile_cost first = schedule->free_at[0];
    size_t past = 0;

    for (uint32_t i = 1; i < schedule->channels; i++)
        if (schedule->free_at[i] < first)
            first = schedule->free_at[i];
    while (past + 1 < schedule->span_count && schedule->spans[past + 1].from <= first)
        past++;
    schedule->span_count -= past;
    memmove(schedule->spans, schedule->spans + past,
            schedule->span_count * sizeof *schedule->spans);
}

/* Makes room for the two spans that a job adds. Returns 0, or -1 if out of memory. */
static int make_room(struct schedule *schedule)
{
    size_t capacity = schedule->span_capacity;
    struct bus_span *spans;

    if (schedule->span_count + 2 <= capacity)
        return 0;
    if (capacity > 0)
        drop_past(schedule);
    if (capacity > 0 && schedule->span_count <= capacity / 2)
        return 0;
    capacity = capacity > 0 ? 2 * capacity : SPANS_AT_FIRST;
    spans = reallocarray(schedule->spans, capacity, sizeof *spans);
    if (!spans)
        return -1;
    if (!schedule->spans) {
        spans[0] = (struct bus_span){0};
        schedule->span_count = 1;
    }
    schedule->spans = spans;
    schedule->span_capacity = capacity;
    return 0;
}

/* Divides the span that contains `at`. Returns the index of the span that begins there. */
static size_t divide(struct schedule *schedule, profile_cost at)
{
    struct bus_span *spans = schedule->spans;
    size_t low = 0, high = schedule->span_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (spans[middle].from <= at)
            low = middle;
        else
            high = middle;
    }
    if (spans[low].from == at)
        return low;
    memmove(spans + low + 2, spans + low + 1, (schedule->span_count - low - 1) * sizeof *spans);
    spans[low + 1] = (struct bus_span){at, spans[low].load};
    schedule->span_count++;
    return low + 1;
}

/*
 * Runs a job from `start` on with the part of the bus that earlier jobs leave free. `demand` is
 * the part of the bus that it takes if it is alone. Returns its end.
 */
static profile_cost run_on_bus(struct schedule *schedule, profile_cost start, profile_cost cost,
                               double demand)
{
    struct bus_span *spans = schedule->spans;
    const size_t first = divide(schedule, start);
    double left = (double)cost; /* time that the rest of the job would need alone */
    bool slowed = false;

    for (size_t i = first;; i++) {
        const double rest = 1 - spans[i].load;
        const double speed = rest >= demand ? 1 : rest > 1e-9 ? rest / demand : 0;
        const profile_cost size =
            i + 1 < schedule->span_count ? spans[i + 1].from - spans[i].from : UINT64_MAX;
        profile_cost end;

        slowed |= speed < 1;
        if (left > speed * (double)size) {
            left -= speed * (double)size;
            spans[i].load += speed * demand;
            continue;
        }
        end = slowed ? cost_plus(spans[i].from, (profile_cost)ceil(left / speed))
                     : cost_plus(start, cost);
        if (i + 1 == schedule->span_count || end < spans[i + 1].from)
            divide(schedule, end);
        spans[i].load += speed * demand;
        return end;
    }
}

/* Returns the end of a job that begins at `start`. */
static profile_cost end_of(struct schedule *schedule, profile_cost start,
                           const struct schedule_job *job)
{
    const profile_cost bus = job->bus < job->cost ? job->bus : job->cost;

    if (bus == 0 || schedule->channels == 1 || cost_plus(start, job->cost) > UINT64_MAX / 4)
        return cost_plus(start, job->cost);
    if (make_room(schedule) < 0) {
        schedule->failed = true;
        return cost_plus(start, job->cost);
    }
    return run_on_bus(schedule, start, job->cost, (double)bus / (double)job->cost);
}

struct schedule_slot schedule_place(struct schedule *schedule, profile_cost ready,
                                    uint32_t channels, const struct schedule_job *job)
{
    const uint32_t count = channels < schedule->channels ? channels : schedule->channels;
    struct schedule_slot slot = {.start = later(ready, free_at(schedule, 0, count))};

    for (uint32_t first = 1; first + count <= schedule->channels; first++) {
        const profile_cost start = later(ready, free_at(schedule, first, count));

        if (start < slot.start) {
            slot.start = start;
            slot.first_channel = first;
        }
    }
    slot.end = end_of(schedule, slot.start, job);
    for (uint32_t i = slot.first_channel; i < slot.first_channel + count; i++) {
        schedule->free_at[i] = slot.end;
        schedule->busy[i] = cost_plus(schedule->busy[i], slot.end - slot.start);
    }
    schedule->end = later(schedule->end, slot.end);
    schedule->sum = cost_plus(schedule->sum, job->cost);
    return slot;
}
