/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a plan for a board. The search (tile_plan.h) lists plans by an estimated time; here
 * the listed plans are timed closer and closer:
 *
 *     tile_candidates_find()   some 10 000 plans, by a formula of their rows
 *       -> sample              the listed plans: the cost model for one transfer of each tensor
 *         -> schedule          the best of these: the cost model for all jobs (tile_time.h)
 *
 * Objectives: the shortest time, or the least traffic. The shortest time prefers plans near the
 * least traffic if they take at most CHOICE_SLOWER percent longer.
 */
#ifndef TARGET_TILE_CHOICE_H
#define TARGET_TILE_CHOICE_H

#include "target/tile/tile_time.h"

enum tile_objective { TILE_LEAST_TIME, TILE_LEAST_TRAFFIC };

enum {
    CHOICE_SLOWER = 3,      /* percent of time that a plan near the least traffic may cost */
    CHOICE_JOBS = 4 * 1000, /* jobs that are scheduled for one list of plans */
    CHOICE_JOBS_ONE = 2 * CHOICE_JOBS /* jobs of the first plan of a list */
};

/* A plan and its time. */
struct tile_timed {
    struct tile_plan plan;
    profile_cost time;
    bool scheduled; /* false: the plan has so many jobs that `time` is extrapolated from samples */
};

struct tile_choice {
    struct tile_timed best;
    struct tile_timed other; /* the least traffic of all, or the shortest time of all */
};

/**
 * Chooses a plan. Borrows the layer; `estimate` has the channels and kernels of the board. Returns
 * 0, or -1 with the fault of tile_plan_find() or tile_times_init().
 */
int tile_choose(struct tile_choice *choice, enum tile_objective objective,
                const struct tile_layer *layer, const struct tile_memory *memory,
                const struct tile_estimate *estimate, const struct tile_board *board,
                struct fault *fault);

#endif /* TARGET_TILE_CHOICE_H */
