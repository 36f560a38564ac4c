/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/cost/schedule.h"

static profile_cost later(profile_cost a, profile_cost b)
{
    return a > b ? a : b;
}

static profile_cost plus(profile_cost a, profile_cost b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void schedule_init(struct schedule *schedule, uint32_t channels)
{
    *schedule = (struct schedule){.channels = channels};
}

/* Returns when the channels first .. first + count - 1 are free. */
static profile_cost free_at(const struct schedule *schedule, uint32_t first, uint32_t count)
{
    profile_cost at = 0;

    for (uint32_t i = first; i < first + count; i++)
        at = later(at, schedule->free_at[i]);
    return at;
}

struct schedule_slot schedule_place(struct schedule *schedule, profile_cost ready,
                                    uint32_t channels, profile_cost cost)
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
    slot.end = plus(slot.start, cost);
    for (uint32_t i = slot.first_channel; i < slot.first_channel + count; i++) {
        schedule->free_at[i] = slot.end;
        schedule->busy[i] = plus(schedule->busy[i], cost);
    }
    schedule->end = later(schedule->end, slot.end);
    schedule->sum = plus(schedule->sum, cost);
    return slot;
}
