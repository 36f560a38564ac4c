/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of a plan for a board. The search (tile_plan.h) lists plans by an estimated time;
 * here the listed plans are timed more and more exactly:
 *
 *     tile_candidates_find()   some 10 000 plans, by a formula of their rows
 *       -> sample              the listed plans: the cost model for one transfer of each tensor
 *         -> schedule          the best of these: the cost model for all jobs
 *
 * Objectives: the shortest time, or the least traffic. The shortest time prefers plans near the
 * least traffic if they take at most CHOICE_SLOWER percent longer.
 */
#pragma once

#include "target/cost/cost.h"
#include "target/tile/tile_jobs.h"

/*
 * The time of a plan on a board: each load and store by the cost model (target/cost/cost.h), the
 * kernels by a given number of cycles, all of them in the schedule of target/cost/schedule.h. Jobs
 * are placed in their order on the DMA channels, kernels on the core.
 */

/* A plan on a board. */
struct tile_board {
    const struct target_profile *profile;
    const struct profile_memory *inside;  /* the memory of the buffers */
    const struct profile_memory *outside; /* the memory of the operands */
    uint32_t channels;                    /* DMA channels, 1 to MLI_MOV_MAX_CHANNELS */
    profile_cost call;                    /* cost of each call of a kernel */
    profile_cost compute;                 /* cost of a kernel for each element of the output */
};

struct tile_slot {
    profile_cost start, end;
    uint32_t channel; /* channel of a load or store */
};

struct cost_times {
    struct tile_slot *slot;              /* by job */
    profile_cost end;                    /* end of the last job */
    profile_cost loads, stores, kernels; /* sums of the times of all loads, stores and kernels */
    profile_cost busy; /* sum of loads and stores, divided by the number of channels */
    profile_cost bus;  /* sum of the times for which all loads and stores use the bus */
};

/** Returns the largest memory that the DMA controller reaches, besides `inside` if there is one. */
const struct profile_memory *tile_board_outside(const struct target_profile *profile,
                                                const struct profile_memory *inside);

/** Returns the bytes of all operands in the memory outside, from which tiles are loaded. */
uint64_t tile_board_operands(const struct tile_layer *layer, const struct tile_board *board);

/** Returns the number of bytes that the memory outside has for operands. */
uint64_t tile_board_room(const struct tile_board *board, const struct tile_memory *buffers);

/**
 * Places all jobs. Operands that do not fit into the memory outside get addresses behind all
 * memories, which changes no cost. Returns 0, or -1 with the fault: no memory, or a transfer that
 * libmli refuses (a tensor above 4 GiB). Finish with tile_times_finish().
 */
int tile_times_init(struct cost_times *times, const struct tile_jobs *jobs,
                    const struct tile_board *board, struct fault *fault);
void tile_times_finish(struct cost_times *times);

enum tile_objective { TILE_LEAST_TIME, TILE_LEAST_TRAFFIC };

/* A plan and its time. */
struct tile_timed {
    struct tile_plan plan;
    profile_cost time;
    bool scheduled; /* false: the plan has so many jobs that `time` is extrapolated from samples */
};

struct tile_choice {
    struct tile_timed best;
    struct tile_timed other; /* the best plan by the other objective */
};

/**
 * Chooses a plan. Borrows the layer; `estimate` has the channels and kernels of the board. Returns
 * 0, or -1 with the fault of tile_plan_find() or tile_times_init().
 */
int tile_choose(struct tile_choice *choice, enum tile_objective objective,
                const struct tile_layer *layer, const struct tile_memory *memory,
                const struct tile_estimate *estimate, const struct tile_board *board,
                struct fault *fault);
