/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-calls measures functions of mlid with a cost that could grow with the number of users, jobs
 * or buffers, at the documented limits. It prints the longest call of each. mlid's loop serves
 * everybody in turns, so a long call delays all other requests.
 */
#include <stdio.h>

#include "bench/calls/longest.h"
#include "bench/moves/evict.h"

enum { PLAYS = 3, GOAL_US = 50 };

static const struct scene *const scenes[] = {
#define SCENE_ADDRESS(name) &(name),
    SCENE_TABLE(SCENE_ADDRESS)
#undef SCENE_ADDRESS
};

int main(void)
{
    printf("memory of the scene evicted by: %s\n", evict_init());
    printf("%-56s %8s %8s %8s\n", "microseconds of processor time", "calls", "mean", "longest");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const struct call_times times = call_times_measure(scenes[i], PLAYS);

        printf("%-56s %8u %8.2f %8.2f  %s\n", scenes[i]->title, (unsigned)scenes[i]->calls,
               times.mean, times.longest, times.longest <= GOAL_US ? "ok" : "MISS");
    }
    printf("goal: no call takes longer than %d microseconds\n", GOAL_US);
    return 0;
}
