/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a plan on a board: each load and store by the cost model (target/cost/cost.h), the
 * kernels by a given number of cycles, all of them in the schedule of target/cost/schedule.h. Jobs
 * are placed in their order on the DMA channels, kernels on the core.
 */
#ifndef TARGET_TILE_TIME_H
#define TARGET_TILE_TIME_H

#include "target/cost/cost.h"
#include "target/tile/tile_jobs.h"

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
    uint32_t channel; /* of a load or store */
};

struct tile_times {
    struct tile_slot *slot;              /* for each job */
    profile_cost end;                    /* end of the last job */
    profile_cost loads, stores, kernels; /* sums */
    profile_cost busy;                   /* loads and stores, divided by the channels */
    profile_cost bus;                    /* time in which loads and stores need the whole bus */
};

/** Returns the largest memory that the DMA controller reaches, besides `inside` if there is one. */
const struct profile_memory *tile_board_outside(const struct target_profile *profile,
                                                const struct profile_memory *inside);

/** Returns the bytes that all operands need outside. */
uint64_t tile_board_operands(const struct tile_layer *layer, const struct tile_board *board);

/** Returns the bytes that the memory outside has for operands. */
uint64_t tile_board_room(const struct tile_board *board, const struct tile_memory *buffers);

/**
 * Computes the cost of one transfer of an operand, in the middle of the layer: *total alone, *data
 * on the bus, and the *bytes that it moves. Returns 0, or -1 with the fault as tile_times_init().
 */
int tile_time_sample(const struct tile_plan *plan, const struct tile_board *board, uint32_t operand,
                     profile_cost *total, profile_cost *data, uint64_t *bytes, struct fault *fault);

/**
 * Places all jobs. Operands that do not fit outside are behind all memories of the board, which
 * changes no cost. Returns 0, or -1 with the fault: out of memory, or a transfer that libmli
 * refuses (a tensor above 4 GiB). Finish with tile_times_finish().
 */
int tile_times_init(struct tile_times *times, const struct tile_jobs *jobs,
                    const struct tile_board *board, struct fault *fault);
void tile_times_finish(struct tile_times *times);

#endif /* TARGET_TILE_TIME_H */
