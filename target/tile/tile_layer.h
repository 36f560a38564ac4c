/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer that is cut into tiles, and the head of this folder: plain data, without JSON and files.
 *
 *     shapes, a kernel, a move
 *       -> tile_layer.c     struct tile_layer: axes, and the operands that depend on them
 *       -> tile_division.c  the ways to divide each axis
 *       -> tile_search.c    struct tile_plan: counts of tiles, loop order, buffers with addresses
 *            -> tile_estimate.c the time of a plan by a formula
 *       -> tile_choice.c    the plan with the shortest time, or the least traffic, on a board
 *       -> tile_jobs.c      struct tile_jobs: loads, kernels and stores in the order of issue
 *            -> tile_check.c    proves that no buffer is overwritten while in use
 *            -> tile_transfer.c the move (mli_mov_api.h) that a load or a store makes
 *                 -> tile_time.c    its cost, and the schedule of all jobs on a board
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
#ifndef TARGET_TILE_LAYER_H
#define TARGET_TILE_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_explain.h"
#include "proto/json/fault.h"

enum {
    TILE_AXES = 4,         /* axes of a layer at most */
    TILE_OPERANDS = 3,     /* operands of a layer at most */
    TILE_PAD_MAX = 255,    /* zeros on one side, as in mli_mov_cfg_t */
    TILE_KERNEL_MAX = 255, /* rows or columns of a kernel with dilation */
    TILE_INPUTS = 2        /* input tensors of an elementwise layer at most */
};

/* Axes of a window layer. Layers of other kinds have an axis for each dimension of the result. */
enum { TILE_ROWS, TILE_COLUMNS, TILE_CHANNELS, TILE_REDUCED };

enum tile_kind { TILE_MOVE, TILE_WINDOW, TILE_ELEMENTWISE };

/* The coordinates of an operand that a range of an axis needs. */
struct tile_span {
    bool used;       /* the operand depends on the axis */
    uint32_t step;   /* coordinates from one index of the axis to the next */
    uint32_t reach;  /* coordinates that one index needs */
    uint64_t pad;    /* zeros before the first element */
    uint64_t extent; /* elements along this dimension */
};

enum tile_role { TILE_INPUT, TILE_WEIGHTS, TILE_OUTPUT };

struct tile_operand {
    enum tile_role role;
    bool in_place;    /* an output without a buffer: the kernel writes over the first input */
    uint64_t unit;    /* bytes for each combination of coordinates */
    uint64_t partial; /* bytes of a partial sum in its place; 0: the operand has none */
    uint64_t repeats; /* outermost copies of the box in memory: rows * columns of a kernel, or 1 */
    struct tile_span span[TILE_AXES];
    /* Axes of the dimensions in memory, the outermost first. */
    uint32_t dimensions;
    uint8_t axis[TILE_AXES];
    uint32_t merging; /* innermost dimensions that are ordered in the buffer as in memory */
};

struct tile_layer {
    enum tile_kind kind;
    uint32_t axes;
    uint64_t extent[TILE_AXES]; /* indices of each axis, at least 1 */
    /* true: the layer has the axis TILE_REDUCED. Tiles along this axis follow one another, because
       they add to one result. */
    bool reduces;
    uint32_t operands;
    struct tile_operand operand[TILE_OPERANDS]; /* inputs, weights, and last the output */
    uint32_t element;                           /* bytes of an element */
    uint64_t results;                           /* elements of the output */
    /* For tile_transfer.c: */
    mli_explanation move; /* TILE_MOVE: the whole move */
    uint32_t depth;       /* TILE_WINDOW: input channels */
    uint32_t kernel[2], stride[2], dilation[2], pad_pre[2], pad_post[2]; /* rows, columns */
    bool depthwise;
};

/* A layer with a kernel over rows and columns of an HWC tensor: a convolution or a pooling. */
struct tile_window {
    uint32_t shape[3]; /* rows, columns and channels of the input */
    uint32_t kernel[2], stride[2], dilation[2];
    uint32_t pad_pre[2], pad_post[2]; /* rows of zeros above and below; columns left and right */
    uint32_t channels;                /* channels of the output; depthwise: those of the input */
    bool depthwise;                   /* each output channel depends on one input channel */
    bool weights;                     /* false: a pooling, without weights; needs `depthwise` */
    uint32_t element;                 /* bytes of an element of all operands */
    uint32_t partial; /* bytes of a partial sum; 0: each tile has all input channels */
};

/**
 * Sets the padding of a window so that the output has ceil(extent / stride) rows and columns. The
 * second half of an odd padding is the larger one, as in TensorFlow.
 */
void tile_window_pad_same(struct tile_window *window);

/**
 * Returns the rows (dimension 0) or columns (1) of the output, 0 if the kernel exceeds the padded
 * input.
 */
uint64_t tile_window_extent(const struct tile_window *window, uint32_t dimension);

/** Makes a layer of a window. Returns 0, or -1 with the fault: a value out of range. */
int tile_layer_window(struct tile_layer *layer, const struct tile_window *window,
                      struct fault *fault);

/** Makes a layer of a move, of which each tile is a box of the region that it writes. */
int tile_layer_move(struct tile_layer *layer, const mli_explanation *move, struct fault *fault);

/** Makes a layer that combines the elements of 1 or 2 tensors of one shape, in place of the first.
 */
int tile_layer_elementwise(struct tile_layer *layer, uint32_t rank, const uint32_t *shape,
                           uint32_t element, uint32_t inputs, struct fault *fault);

/** Returns the coordinates that `size` indices of an axis need; 1 if the span is not used. */
static inline uint64_t tile_span_extent(const struct tile_span *span, uint64_t size)
{
    return span->used ? (size - 1) * span->step + span->reach : 1;
}

/**
 * Returns how many of the coordinates for `size` indices from `begin` on are elements. Sets *first
 * to the first coordinate, counted in the padded operand.
 */
uint64_t tile_span_elements(const struct tile_span *span, uint64_t begin, uint64_t size,
                            uint64_t *first);

/* An axis that is cut into tiles. */
struct tile_cut {
    uint64_t extent; /* indices of the axis */
    uint64_t count;  /* tiles */
    uint64_t size;   /* indices of the largest tile */
    bool even; /* true: the sizes differ by at most 1, the larger tiles are first; false: all tiles
                  but the last one have the largest size */
};

/** Sets *begin and *size to the indices of tile `index` of a cut. */
static inline void tile_cut_range(const struct tile_cut *cut, uint64_t index, uint64_t *begin,
                                  uint64_t *size)
{
    const uint64_t quotient = cut->extent / cut->count, rest = cut->extent % cut->count;

    *begin = cut->even ? index * quotient + (index < rest ? index : rest) : index * cut->size;
    *size = cut->even ? quotient + (index < rest) : cut->size;
    if (*size > cut->extent - *begin)
        *size = cut->extent - *begin;
}

/** Returns the sum of tile_span_elements() over all tiles of a cut; 1 if the span is not used. */
uint64_t tile_span_sum(const struct tile_span *span, const struct tile_cut *cut);

/** Returns a product, or UINT64_MAX if it does not fit. */
static inline uint64_t tile_times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/** Returns a sum, or UINT64_MAX if it does not fit. */
static inline uint64_t tile_plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif /* TARGET_TILE_LAYER_H */
