/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer that is cut into tiles, and the head of this folder: plain data, without JSON and files.
 *
 *     shapes, a kernel, a move
 *       -> tile_plan.c      struct tile_layer: axes, and the operands that depend on them
 *       -> tile_search.c    struct tile_plan: counts of tiles, loop order, buffers with addresses
 *            -> tile_estimate.c the time of a plan by a formula
 *       -> tile_choice.c    the plan with the shortest time or the least traffic on a board
 *       -> tile_jobs.c      struct tile_jobs: loads, kernels and stores in the order of issue
 *            -> tile_check.c    proves that no buffer is overwritten while in use
 *            -> tile_transfer.c the move (mli_mov_api.h) that a load or a store makes
 *
 * An axis counts the iterations of a loop: rows, columns and channels of the output, and the input
 * channels that a convolution adds up. A tile is one range of each axis. An operand needs a box of
 * coordinates for a tile: along each axis that it depends on, `step` coordinates for each index
 * and `reach` for the first, from `pad` coordinates before its first element. Coordinates outside
 * its elements are zeros (the border of a convolution) that are written into the buffer but not
 * read from the operand.
 *
 * To add a kind of layer, start here: write a constructor that fills struct tile_layer. The search,
 * the jobs and the checker need no change; tile_transfer.c needs the moves of its operands.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_explain.h"
#include "proto/json/fault.h"
#include "target/profile/target_profile.h"

enum {
    TILE_AXES = 4,         /* maximum axes of a layer */
    TILE_OPERANDS = 3,     /* maximum operands of a layer */
    TILE_PAD_MAX = 255,    /* maximum zeros on one side, as in mli_mov_cfg_t */
    TILE_KERNEL_MAX = 255, /* maximum rows or columns of a kernel, dilation included */
    TILE_INPUTS = 2        /* maximum input tensors of an elementwise layer */
};

/* An axis that is cut into tiles. */
struct tile_cut {
    uint64_t extent; /* number of indices of the axis */
    uint64_t count;  /* number of tiles */
    uint64_t size;   /* number of indices of the largest tile */
    bool even; /* true: the sizes differ by at most 1, the larger tiles are first; false: all tiles
                  but the last one have the largest size */
};

/* Axes of a window layer. Layers of other kinds have an axis for each dimension of the result. */
enum { TILE_ROWS, TILE_COLUMNS, TILE_CHANNELS, TILE_REDUCED };

enum tile_kind { TILE_MOVE, TILE_WINDOW, TILE_ELEMENTWISE };

/* The coordinates of an operand that a range of an axis needs. */
struct tile_span {
    bool used;       /* true: the operand depends on the axis */
    uint32_t step;   /* number of coordinates from one index of the axis to the next */
    uint32_t reach;  /* number of coordinates of the operand that one index of the axis needs */
    uint64_t pad;    /* number of zeros before the first element */
    uint64_t extent; /* number of elements along this dimension */
};

enum tile_role { TILE_INPUT, TILE_WEIGHTS, TILE_OUTPUT };

struct tile_operand {
    enum tile_role role;
    bool in_place;    /* the output has no buffer: the kernel overwrites the first input
                       */
    uint64_t unit;    /* bytes of the operand at one combination of coordinates on its axes */
    uint64_t partial; /* bytes of a partial sum, which takes the place of the element; 0: the
                         operand has no partial sums */
    uint64_t repeats; /* number of copies of the box in memory: rows * columns of a kernel, or 1 */
    struct tile_span span[TILE_AXES];
    /* Axes of the dimensions in memory, the outermost first. */
    uint32_t dimensions;
    uint8_t axis[TILE_AXES];
    uint32_t merging; /* number of innermost dimensions that have the same order in the buffer and
                         in memory */
};

/* A layer with a kernel over rows and columns of an HWC tensor: a convolution or a pooling. */
struct tile_window {
    uint32_t shape[3]; /* rows, columns and channels of the input */
    uint32_t kernel[2], stride[2], dilation[2];
    uint32_t pad_pre[2], pad_post[2]; /* rows of zeros above and below; columns left and right */
    uint32_t channels; /* channels of the output; depthwise: as many as in the input */
    bool depthwise;    /* each output channel depends on one input channel */
    bool weights;      /* false: a pooling layer, which has no weights; `depthwise` must be true */
    uint32_t element;  /* bytes of an element of all operands */
    uint32_t partial;  /* bytes of a partial sum; 0: each tile has all input channels, so there are
                          none */
};

struct tile_layer {
    enum tile_kind kind;
    uint32_t axes;
    uint64_t extent[TILE_AXES]; /* number of indices of each axis, at least 1 */
    /* true: the layer has the axis TILE_REDUCED. Tiles along this axis follow one another, because
       they add to one result. */
    bool reduces;
    uint32_t operands;
    struct tile_operand operand[TILE_OPERANDS]; /* inputs, weights, and last the output */
    uint32_t element;                           /* bytes of an element */
    uint64_t results;                           /* number of elements of the output */
    /* For tile_transfer.c: */
    mli_explanation move;      /* TILE_MOVE: the whole move */
    struct tile_window window; /* TILE_WINDOW */
};

/**
 * Sets the padding of a window so that the output has ceil(extent / stride) rows and columns. The
 * second half of an odd padding is the larger one, as in TensorFlow.
 */
void tile_window_pad_same(struct tile_window *window);

/** Makes a layer of a window. Returns 0, or -1 with the fault: a value out of range. */
int tile_layer_window(struct tile_layer *layer, const struct tile_window *window,
                      struct fault *fault);

/** Makes a layer of a move: each tile is a box of the region that the move writes. */
int tile_layer_move(struct tile_layer *layer, const mli_explanation *move, struct fault *fault);

/** Makes a layer that combines the elements of 1 or 2 tensors of one shape, and writes the result
 * in place of the first. */
int tile_layer_elementwise(struct tile_layer *layer, uint32_t rank, const uint32_t *shape,
                           uint32_t element, uint32_t inputs, struct fault *fault);

static inline uint64_t tile_align_up(uint64_t bytes, uint64_t alignment)
{
    return cost_plus(bytes, alignment - 1) / alignment * alignment;
}

/** Returns the coordinates that `size` indices of an axis need; 1 if the span is not used. */
static inline uint64_t tile_span_extent(const struct tile_span *span, uint64_t size)
{
    return span->used ? (size - 1) * span->step + span->reach : 1;
}

/** Sets *begin and *size to the range of the axis that tile number `index` has. */
static inline void tile_cut_range(const struct tile_cut *cut, uint64_t index, uint64_t *begin,
                                  uint64_t *size)
{
    const uint64_t quotient = cut->extent / cut->count, rest = cut->extent % cut->count;

    *begin = cut->even ? index * quotient + (index < rest ? index : rest) : index * cut->size;
    *size = cut->even ? quotient + (index < rest) : cut->size;
    if (*size > cut->extent - *begin)
        *size = cut->extent - *begin;
}

/** Returns the sum of the elements that all tiles need along a dimension; 1 if !span->used. */
uint64_t tile_span_sum(const struct tile_span *span, const struct tile_cut *cut);

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
 * The search tries all counts of tiles that differ in the size of the largest tile, and all orders.
 * It finds the least traffic, and then two plans: the plan with the shortest estimated time among
 * those with at most `slack` percent more traffic, and the one with the shortest time among all.
 * The least traffic alone leads to short rows, which take long. Equal plans are ordered by traffic,
 * tiles and memory.
 *
 * Several counts of tiles along an axis may have the same size of the largest tile. The traffic is
 * a linear function of the count (except for ranges in the padding). So the best of these counts
 * is the smallest one, or a count with the next size is better: the others are not tried. Short
 * axes with padding are also cut into tiles of each size if that saves traffic.
 */

enum {
    TILE_BUFFERS_MAX = 4,      /* maximum buffers of one operand */
    TILE_STEPS_MAX = 64 * 1024 /* maximum tiles of a plan */
};

/* Figures to estimate the time of a plan (tile_estimate.h), with which plans are compared. */
struct tile_estimate {
    profile_cost start, descriptor;  /* costs of each transfer, and of each descriptor */
    profile_cost row, burst, beat;   /* costs of each row, burst and beat */
    uint32_t bus_bytes, burst_bytes; /* bytes of a beat and of a burst, at least 1 */
    uint32_t channels;               /* DMA channels, at least 1 */
    uint32_t loops; /* number of dimensions around the rows that one descriptor moves */
    uint64_t run_max, count_max; /* maximum bytes of a row and iterations of a loop; 0: no limit */
    profile_cost call;           /* cost of each call of the kernel */
    profile_cost compute;        /* cost of the kernel for each element of the output; 0: unknown */
    uint32_t slack; /* percent by which a plan's traffic may exceed the least traffic */
};

/* The memory for the buffers. */
struct tile_memory {
    uint64_t bytes;     /* budget */
    uint64_t base;      /* address of the first byte; a multiple of the alignment */
    uint32_t alignment; /* alignment of buffers, a power of two */
    uint32_t buffers;   /* buffers of an operand that changes: 1 to TILE_BUFFERS_MAX */
    bool hold; /* true: one buffer is enough for an operand that stays the same in the inner loop */
};

/* The buffers of an operand. They have one size. */
struct tile_buffers {
    uint32_t count;                    /* 0: the operand shares the buffers of the first input */
    bool held;                         /* true: the operand keeps its tile in the innermost loop */
    uint64_t bytes;                    /* bytes of one buffer: the size of the largest tile */
    uint64_t offset[TILE_BUFFERS_MAX]; /* offset of each buffer from the base of the memory */
};

struct tile_plan {
    const struct tile_layer *layer; /* borrowed */
    struct tile_memory memory;
    struct tile_cut cut[TILE_AXES];
    uint8_t order[TILE_AXES]; /* axes of the loops, the outermost first */
    uint64_t steps;           /* number of steps: the product of the counts of tiles */
    struct tile_buffers buffers[TILE_OPERANDS];
    uint64_t used;                   /* bytes of the memory up to the end of the last buffer */
    uint64_t traffic[TILE_OPERANDS]; /* bytes that all tiles load from or store to the operand */
    uint64_t least[TILE_OPERANDS];   /* bytes of the operand that the layer needs */
    uint64_t total, least_total;     /* sums of `traffic` and `least` */
    uint64_t least_found;            /* the least traffic of all plans that fit */
    profile_cost estimate;           /* estimated time of all steps */
    uint64_t candidates;             /* number of combinations of counts that were compared */
    bool exhaustive;                 /* false: the layer is so large that sizes were left out */
};

enum { TILE_CANDIDATES = 48 };

/* The best plans of a search. */
struct tile_list {
    uint32_t count;
    uint8_t order[TILE_CANDIDATES]; /* indices in `plan`, the shortest estimated time first */
    struct tile_plan plan[TILE_CANDIDATES];
};

static inline const struct tile_plan *tile_list_at(const struct tile_list *list, uint32_t i)
{
    return &list->plan[list->order[i]];
}

struct tile_candidates {
    struct tile_list least; /* plans with the least traffic; never empty */
    struct tile_list near;  /* plans with at most `slack` percent more traffic; never empty */
    struct tile_list fast;  /* plans with the shortest estimated time, whatever their traffic */
};

/**
 * Finds the plans that are worth a closer look. Borrows the layer. If `fast` is false, leaves
 * found->fast empty. Fails as tile_plan_find() does.
 */
int tile_candidates_find(struct tile_candidates *found, const struct tile_layer *layer,
                         const struct tile_memory *memory, const struct tile_estimate *estimate,
                         bool fast, struct fault *fault);

/**
 * Returns the estimate that a profile gives. The caller adds the compute time of the kernels and
 * the slack. `outside` is the memory of the operands, or null.
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

/** Sets the range of each axis for the tile of a step, and the index of the range. */
void tile_plan_step(const struct tile_plan *plan, uint64_t step, uint64_t index[TILE_AXES]);

/** Returns whether the tile of the operand at this step differs from that of the step before. */
bool tile_plan_changes(const struct tile_plan *plan, uint32_t operand, uint64_t step);

/** Returns whether the results of the step's tile are complete after the step. */
bool tile_plan_completes(const struct tile_plan *plan, uint64_t step);

/** Returns the size in bytes of an operand's tile in its buffer, halo of zeros included. */
uint64_t tile_plan_bytes(const struct tile_plan *plan, uint32_t operand,
                         const uint64_t index[TILE_AXES]);
