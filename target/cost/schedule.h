/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A schedule of jobs on the channels of a board, by the cost model. Jobs are placed in the order in
 * which they are given, each as early as possible after the jobs that it waits for, on the first
 * neighbouring channels that are free then. A job never overtakes an earlier job on a channel. The
 * time of a job is its time alone: parallel jobs do not slow each other down.
 */
#ifndef TARGET_SCHEDULE_H
#define TARGET_SCHEDULE_H

#include <stdint.h>

#include "mli_mov_api.h"
#include "target/profile/target_profile.h"

struct schedule {
    uint32_t channels;
    profile_cost free_at[MLI_MOV_MAX_CHANNELS]; /* end of the latest job of each channel */
    profile_cost busy[MLI_MOV_MAX_CHANNELS];    /* sum of the jobs of each channel */
    profile_cost end;                           /* end of the last job */
    profile_cost sum;                           /* sum of all jobs */
};

/* The place of a job in the schedule. */
struct schedule_slot {
    profile_cost start, end;
    uint32_t first_channel;
};

/** Begins a schedule on `channels` channels, 1 to MLI_MOV_MAX_CHANNELS. */
void schedule_init(struct schedule *schedule, uint32_t channels);

/**
 * Places a job that takes `cost` on `channels` neighbouring channels (at most all),
 * not before `ready`. Returns its place.
 */
struct schedule_slot schedule_place(struct schedule *schedule, profile_cost ready,
                                    uint32_t channels, profile_cost cost);

#endif /* TARGET_SCHEDULE_H */
