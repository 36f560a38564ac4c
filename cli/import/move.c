/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/move.h"

#include <stdlib.h>
#include <string.h>

#include "proto/grow.h"

void moves_finish(struct moves *moves)
{
    free(moves->items);
    moves->items = NULL;
    moves->count = moves->capacity = 0;
}

int moves_add(struct moves *moves, const struct move *move)
{
    if (moves->count == MOVES_MAX) {
        moves->too_many = true;
        return -1;
    }
    if (list_grow(&moves->items, moves->count, &moves->capacity, sizeof(*move)))
        return -1;
    moves->items[moves->count++] = *move;
    return 0;
}

/* Starts a move that takes a whole packed source of this shape. */
static void take(struct move *move, size_t source, uint32_t rank, const uint64_t *shape)
{
    uint64_t stride = 1;

    *move = (struct move){.source = source, .axis_count = rank};
    for (uint32_t d = rank; d-- > 0; stride *= shape[d])
        move->axes[d] = (struct move_axis){
            .extent = shape[d], .src_stride = stride, .count = shape[d], .step = 1};
    for (uint32_t d = 0; d < rank; d++)
        move->order[d] = d;
}

/*
 * Sets extents and strides of the axes in a packed result. `shape`: the extents of the result, in
 * the order of its dimensions; null: the extents of the windows.
 */
static void place(struct move *move, const uint64_t *shape)
{
    uint64_t stride = 1;

    for (uint32_t i = move->axis_count; i-- > 0;) {
        struct move_axis *axis = &move->axes[move->order[i]];

        axis->dst_extent = shape ? shape[i] : axis->count;
        axis->dst_stride = stride;
        stride *= axis->dst_extent;
    }
}

/* Adds a move that reads source 0 in the shape `shape` and permutes its dimensions. */
static int add_permuted(struct moves *moves, uint32_t rank, const uint64_t *shape,
                        const uint32_t *order)
{
    struct move move;

    take(&move, 0, rank, shape);
    memcpy(move.order, order, rank * sizeof(*order));
    place(&move, NULL);
    return moves_add(moves, &move);
}

static int add_blocks(const struct movement *movement, struct moves *moves)
{
    const bool depth = movement->kind == MOVEMENT_DEPTH_TO_SPACE;
    const uint64_t b = movement->block;
    /* The tensor with the larger planes: the result of depth-to-space, the source of
       space-to-depth. It has n batches, c channels, h rows and w columns of blocks. */
    const uint64_t *large = depth ? movement->shape : movement->sources[0].shape;
    const bool nhwc = movement->layout == MOVEMENT_NHWC;
    const uint64_t n = large[0], c = large[nhwc ? 3 : 1], h = large[nhwc ? 1 : 2] / b,
                   w = large[nhwc ? 2 : 3] / b;

    if (depth && movement->layout == MOVEMENT_NHWC)
        return add_permuted(moves, 6, (uint64_t[]){n, h, w, b, b, c},
                            (uint32_t[]){0, 1, 3, 2, 4, 5});
    if (depth && movement->layout == MOVEMENT_DCR)
        return add_permuted(moves, 6, (uint64_t[]){n, b, b, c, h, w},
                            (uint32_t[]){0, 3, 4, 1, 5, 2});
    if (depth)
        return add_permuted(moves, 6, (uint64_t[]){n, c, b, b, h, w},
                            (uint32_t[]){0, 1, 4, 2, 5, 3});
    if (nhwc)
        return add_permuted(moves, 6, (uint64_t[]){n, h, b, w, b, c},
                            (uint32_t[]){0, 1, 3, 2, 4, 5});
    return add_permuted(moves, 6, (uint64_t[]){n, c, h, b, w, b}, (uint32_t[]){0, 3, 5, 1, 2, 4});
}

static int add_copy(const struct movement *movement, struct moves *moves)
{
    const uint64_t one[] = {1};
    struct move move;

    take(&move, 0, movement->result_rank ? movement->result_rank : 1,
         movement->result_rank ? movement->result : one);
    place(&move, NULL);
    return moves_add(moves, &move);
}

static int add_concat(const struct movement *movement, struct moves *moves)
{
    uint64_t at = 0;

    for (size_t k = 0; k < movement->source_count; k++) {
        struct move move;

        take(&move, k, movement->rank, movement->sources[k].shape);
        place(&move, movement->shape);
        move.axes[movement->axis].at = at;
        at += movement->sources[k].shape[movement->axis];
        if (moves_add(moves, &move))
            return -1;
    }
    return 0;
}

/*
 * A movement such as a reversal needs several moves: each dimension is cut into runs, and each
 * combination of runs becomes a move. In a run, the coordinates from, from + step, ... of the
 * source become the coordinates at, at + 1, ... of the result.
 */
struct run {
    uint64_t from, count, step, at;
};

struct runs {
    struct run *items;
    size_t count;
};

/* Adds a run. Returns false if memory or MOVES_MAX is exhausted. */
static bool add_run(struct moves *moves, struct runs *runs, struct run run)
{
    struct run *more = runs->items;

    if (runs->count == MOVES_MAX) {
        moves->too_many = true;
        return false;
    }
    if ((runs->count & (runs->count - 1)) == 0) /* full: the capacity is a power of two */
        more = reallocarray(more, runs->count ? runs->count * 2 : 1, sizeof(*more));
    if (!more)
        return false;
    runs->items = more;
    more[runs->count++] = run;
    return true;
}

/* Cuts a dimension of a slice into one run, or one run per element if the step is negative. */
static bool cut_slice(const struct movement *movement, uint32_t d, struct moves *moves,
                      struct runs *runs)
{
    const int64_t begin = movement->begin[d], step = movement->step[d];
    const uint64_t count = movement->shape[d];

    if (step > 0 || count == 1)
        return add_run(moves, runs,
                       (struct run){(uint64_t)begin, count, step > 0 ? (uint64_t)step : 1, 0});
    for (uint64_t k = 0; k < count; k++) {
        if (!add_run(moves, runs, (struct run){(uint64_t)(begin + (int64_t)k * step), 1, 1, k}))
            return false;
    }
    return true;
}

static bool cut_tile(const struct movement *movement, uint32_t d, struct moves *moves,
                     struct runs *runs)
{
    const uint64_t extent = movement->sources[0].shape[d];

    for (uint64_t at = 0; at < movement->shape[d]; at += extent) {
        if (!add_run(moves, runs, (struct run){0, extent, 1, at}))
            return false;
    }
    return true;
}

/* Returns the source coordinate whose element the border has at `at`, outside the source. */
static uint64_t outside(enum movement_border border, int64_t at, int64_t extent)
{
    switch (border) {
    case MOVEMENT_REFLECT:
        return (uint64_t)(at < 0 ? -at : 2 * (extent - 1) - at);
    case MOVEMENT_SYMMETRIC:
        return (uint64_t)(at < 0 ? -at - 1 : 2 * extent - 1 - at);
    default:
        return (uint64_t)(at < 0 ? 0 : extent - 1);
    }
}

/*
 * Cuts a dimension of a pad whose border repeats source elements: one run has the elements inside
 * the source, and each element of the border is a run.
 */
static bool cut_pad(const struct movement *movement, uint32_t d, struct moves *moves,
                    struct runs *runs)
{
    const int64_t extent = (int64_t)movement->sources[0].shape[d];
    const int64_t first = -movement->begin[d], end = first + (int64_t)movement->shape[d];
    const int64_t inner = first > 0 ? first : 0, inner_end = end < extent ? end : extent;

    if (inner < inner_end && !add_run(moves, runs,
                                      (struct run){(uint64_t)inner, (uint64_t)(inner_end - inner),
                                                   1, (uint64_t)(inner - first)}))
        return false;
    for (int64_t at = first; at < end; at++) {
        if (at >= 0 && at < extent)
            at = extent - 1; /* skip the inner run */
        else if (!add_run(moves, runs,
                          (struct run){outside(movement->border, at, extent), 1, 1,
                                       (uint64_t)(at - first)}))
            return false;
    }
    return true;
}

/* Adds a move for each combination of runs. */
static int add_product(const struct movement *movement, struct moves *moves,
                       const struct runs *runs)
{
    size_t at[MOVEMENT_RANK_MAX] = {0};
    bool more = true;

    for (uint32_t d = 0; d < movement->rank; d++) {
        if (!runs[d].items) /* never true: each extent is at least 1 */
            return -1;
    }
    while (more) {
        struct move move;

        take(&move, 0, movement->rank, movement->sources[0].shape);
        place(&move, movement->shape);
        for (uint32_t d = 0; d < movement->rank; d++) {
            const struct run *run = &runs[d].items[at[d]];

            move.axes[d].offset = run->from;
            move.axes[d].count = run->count;
            move.axes[d].step = run->step;
            move.axes[d].at = run->at;
        }
        if (moves_add(moves, &move))
            return -1;
        more = false;
        for (uint32_t d = movement->rank; d-- > 0 && !more;) {
            more = ++at[d] < runs[d].count;
            if (!more)
                at[d] = 0;
        }
    }
    return 0;
}

static int add_runs(const struct movement *movement, struct moves *moves,
                    bool (*cut)(const struct movement *movement, uint32_t d, struct moves *moves,
                                struct runs *runs))
{
    struct runs runs[MOVEMENT_RANK_MAX] = {{0}};
    int result = 0;

    for (uint32_t d = 0; d < movement->rank && result == 0; d++)
        result = cut(movement, d, moves, &runs[d]) ? 0 : -1;
    if (result == 0)
        result = add_product(movement, moves, runs);
    for (uint32_t d = 0; d < movement->rank; d++)
        free(runs[d].items);
    return result;
}

/*
 * Adds the source with a border of zeros. Sets moves->filled if the fill is not 0: the result is
 * filled before the moves, and moves_fold() removes the border.
 */
static int add_pad(const struct movement *movement, struct moves *moves)
{
    static const uint8_t zeros[MOVEMENT_ELEMENT_MAX];
    struct move move;

    if (movement->border != MOVEMENT_FILL)
        return add_runs(movement, moves, cut_pad);
    take(&move, 0, movement->rank, movement->sources[0].shape);
    for (uint32_t d = 0; d < movement->rank; d++) {
        struct move_axis *axis = &move.axes[d];
        const int64_t begin = movement->begin[d];
        const int64_t end = (int64_t)movement->shape[d] - begin - (int64_t)axis->extent;

        axis->pre = begin > 0 ? (uint64_t)begin : 0;
        axis->post = end > 0 ? (uint64_t)end : 0;
        axis->offset = begin < 0 ? (uint64_t)-begin : 0;
        axis->count = movement->shape[d];
    }
    place(&move, NULL);
    moves->filled = memcmp(movement->fill, zeros, sizeof(zeros)) != 0;
    return moves_add(moves, &move);
}

int moves_of(const struct movement *movement, struct moves *moves)
{
    *moves = (struct moves){.unit = movement->dtype->size};
    if (movement->rank == 0) /* each movement of a scalar is a copy */
        return add_copy(movement, moves);
    switch (movement->kind) {
    case MOVEMENT_COPY:
        return add_copy(movement, moves);
    case MOVEMENT_TRANSPOSE:
        return add_permuted(moves, movement->rank, movement->sources[0].shape, movement->perm);
    case MOVEMENT_SLICE:
        return add_runs(movement, moves, cut_slice);
    case MOVEMENT_CONCAT:
        return add_concat(movement, moves);
    case MOVEMENT_PAD:
        return add_pad(movement, moves);
    case MOVEMENT_TILE:
        return add_runs(movement, moves, cut_tile);
    case MOVEMENT_DEPTH_TO_SPACE:
    case MOVEMENT_SPACE_TO_DEPTH:
        return add_blocks(movement, moves);
    }
    return -1;
}
