/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of a layer in tiles: how many tiles along each axis, the order of the loops, and where
 * the buffers are in the memory.
 *
 * An operand is loaded whenever its tile changes, so the order of the loops decides how often. The
 * input of a convolution is loaded once if the loop over output channels is inside the loops over
 * rows and columns, and the weights are then loaded for each tile of rows and columns.
 *
 * Buffers: an operand that changes has `buffers` buffers, so that the next tile is loaded while the
 * kernel works on this one. An operand that is loaded once has one buffer. An operand
 * that the innermost loop does not change is held: with `hold` it has one buffer if `buffers` do
 * not fit, and the kernel waits while it is loaded.
 *
 * The search takes all counts of tiles that differ in the size of the largest tile, and all orders.
 * It finds the least traffic, and then the plans with the shortest estimated times: of those with
 * at most `slack` percent more traffic, and of all. The least traffic alone leads to short rows,
 * which take long. Equal plans are ordered by traffic, tiles and memory.
 *
 * The traffic is linear in each count (except for ranges in the padding), so of
 * all counts with one size of the largest tile, the smallest count or a neighbouring size is best.
 * Short axes with padding are also cut into tiles of each integer size if that saves traffic.
 */
#ifndef TARGET_TILE_PLAN_H
#define TARGET_TILE_PLAN_H

#include "target/profile/target_profile.h"
#include "target/tile/tile_layer.h"

enum {
    TILE_BUFFERS_MAX = 4,      /* buffers of one operand */
    TILE_STEPS_MAX = 64 * 1024 /* tiles of a plan */
};

/* Figures to estimate the time of a plan (tile_estimate.h), with which plans are compared. */
struct tile_estimate {
    profile_cost start, descriptor;  /* costs of each transfer, and of each descriptor */
    profile_cost row, burst, beat;   /* costs of each row, burst and beat */
    uint32_t bus_bytes, burst_bytes; /* bytes of a beat and of a burst, at least 1 */
    uint32_t channels;               /* DMA channels, at least 1 */
    uint32_t loops;                  /* dimensions of rows that a descriptor moves */
    uint64_t run_max, count_max;     /* bytes of a row, iterations of a loop; 0: no limit */
    profile_cost call;               /* cost of each call of the kernel */
    profile_cost compute; /* cost of the kernel for each element of the output; 0: unknown */
    uint32_t slack;       /* percent of traffic above the least of plans that are near the least */
};

/* The memory for the buffers. */
struct tile_memory {
    uint64_t bytes;     /* budget */
    uint64_t base;      /* address of the first byte; a multiple of the alignment */
    uint32_t alignment; /* alignment of buffers, a power of two */
    uint32_t buffers;   /* buffers of an operand that changes: 1 to TILE_BUFFERS_MAX */
    bool hold; /* true: an operand that the innermost loop does not change may have one buffer */
};

/* The buffers of an operand. They have one size. */
struct tile_buffers {
    uint32_t count;                    /* 0: the operand is in place of the first input */
    bool held;                         /* the innermost loop does not change the tile */
    uint64_t bytes;                    /* bytes of one buffer: of the largest tile */
    uint64_t offset[TILE_BUFFERS_MAX]; /* from the base of the memory */
};

struct tile_plan {
    const struct tile_layer *layer; /* borrowed */
    struct tile_memory memory;
    struct tile_cut cut[TILE_AXES];
    uint8_t order[TILE_AXES]; /* axes of the loops, the outermost first */
    uint64_t steps;           /* tiles: the product of the counts */
    struct tile_buffers buffers[TILE_OPERANDS];
    uint64_t used;                   /* bytes of the memory up to the end of the last buffer */
    uint64_t traffic[TILE_OPERANDS]; /* bytes that all tiles load from or store to the operand */
    uint64_t least[TILE_OPERANDS];   /* bytes of the operand that the layer needs */
    uint64_t total, least_total;     /* sums of traffic and least */
    uint64_t least_found;            /* the least traffic of all plans that fit */
    profile_cost estimate;           /* estimated time of all steps */
    uint64_t candidates;             /* number of combinations of counts that were compared */
    bool exhaustive;                 /* false: the layer is so large that sizes were left out */
};

enum { TILE_CANDIDATES = 48 };

/* The best plans of a search. */
struct tile_list {
    uint32_t count;
    uint8_t order[TILE_CANDIDATES]; /* places in `plan`, the shortest estimated time first */
    struct tile_plan plan[TILE_CANDIDATES];
};

static inline const struct tile_plan *tile_list_at(const struct tile_list *list, uint32_t i)
{
    return &list->plan[list->order[i]];
}

struct tile_candidates {
    struct tile_list least; /* plans with the least traffic; never empty */
    struct tile_list near;  /* plans with at most `slack` percent more traffic; never empty */
    struct tile_list fast;  /* plans of any traffic */
};

/**
 * Finds the plans that are worth a closer look. Borrows the layer. `fast` false: leaves the list of
 * any traffic empty. Fails as tile_plan_find() does.
 */
int tile_candidates_find(struct tile_candidates *found, const struct tile_layer *layer,
                         const struct tile_memory *memory, const struct tile_estimate *estimate,
                         bool fast, struct fault *fault);

/**
 * Returns the estimate that a profile gives, without the compute time of kernels and slack.
 * `outside` is the memory of the operands, or null.
 */
struct tile_estimate tile_estimate_of(const struct target_profile *profile,
                                      const struct profile_memory *outside);

/**
 * Finds the plan with the shortest estimated time of those with at most `slack` percent more
 * traffic than the least. Borrows the layer. Returns 0, or -1 with FAULT_REFUSED and the smallest
 * budget that would fit in the message: the layer does not fit, or has more than TILE_STEPS_MAX
 * tiles.
 */
int tile_plan_find(struct tile_plan *plan, const struct tile_layer *layer,
                   const struct tile_memory *memory, const struct tile_estimate *estimate,
                   struct fault *fault);

/**
 * Returns the smallest budget in which the layer fits with these buffers and this alignment, and at
 * most TILE_STEPS_MAX tiles. Ignores memory->bytes. UINT64_MAX: no budget.
 */
uint64_t tile_plan_smallest(const struct tile_layer *layer, const struct tile_memory *memory);

/** Sets the range of each axis for the tile of a step, and the number of the range. */
void tile_plan_step(const struct tile_plan *plan, uint64_t step, uint64_t index[TILE_AXES]);

/** Returns whether the tile of the operand at this step differs from that of the step before. */
bool tile_plan_changes(const struct tile_plan *plan, uint32_t operand, uint64_t step);

/** Returns whether the results of the step's tile are complete after the step. */
bool tile_plan_completes(const struct tile_plan *plan, uint64_t step);

/** Returns the bytes in the buffer that the tile of an operand takes, halo of zeros included. */
uint64_t tile_plan_bytes(const struct tile_plan *plan, uint32_t operand,
                         const uint64_t index[TILE_AXES]);

#endif /* TARGET_TILE_PLAN_H */
