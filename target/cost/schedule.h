/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A schedule of jobs on the channels of a board, by the cost model. Jobs are placed in the order in
 * which they are given, each as early as possible after the jobs that it waits for, on the first
 * neighbouring channels that are free then. A job never overtakes an earlier job on a channel.
 *
 * Jobs share the bus. A job that runs alone takes the time `cost` and uses the bus for the time
 * `bus`, so it needs the fraction bus / cost of the bus. If the jobs that were placed before leave
 * a smaller fraction, the job is slower in proportion, until one of them ends. Jobs that are placed
 * later do not slow it down. So the schedule is never shorter than the sum of the times on the bus.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"
#include "target/profile/target_profile.h"

struct schedule {
    uint32_t channels;
    profile_cost free_at[MLI_MOV_MAX_CHANNELS]; /* end of the latest job of each channel */
    profile_cost busy[MLI_MOV_MAX_CHANNELS];    /* time during which each channel has jobs */
    profile_cost end;                           /* end of the last job */
    profile_cost sum;                           /* sum of the times of all jobs, each alone */
    bool failed;            /* true: no memory, so some jobs are computed as if alone on the bus */
    struct bus_span *spans; /* the load of the bus over time */
    size_t span_count, span_capacity;
};

struct schedule_job {
    profile_cost cost; /* time of the job alone */
    profile_cost bus;  /* part of that time during which the bus is busy */
};

/* The place of a job in the schedule. */
struct schedule_slot {
    profile_cost start, end;
    uint32_t first_channel;
};

/** Begins a schedule on `channels` channels, 1 to MLI_MOV_MAX_CHANNELS. */
void schedule_init(struct schedule *schedule, uint32_t channels);

/** Frees the memory of a schedule; also accepts zeros. The times stay valid. */
void schedule_finish(struct schedule *schedule);

/**
 * Places a job on `channels` neighbouring channels (at most all), not before `ready`. Returns its
 * place. Out of memory: sets schedule->failed.
 */
struct schedule_slot schedule_place(struct schedule *schedule, profile_cost ready,
                                    uint32_t channels, const struct schedule_job *job);
