/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts moves of any rank to moves of libmli: at most 4 dimensions, elements of 1, 2 or 4
 * bytes, borders of at most 255 elements. The steps: elements of 8 bytes become two elements of 4
 * bytes; axes of extent 1 are left out; neighbouring axes that are one dimension in the source and
 * in the result are merged; the axis with the fewest elements becomes a loop of moves.
 */
#include <string.h>

#include "cli/import/move.h"

static void remove_axis(struct move *move, uint32_t axis)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < move->axis_count; i++) {
        if (move->order[i] != axis)
            move->order[kept++] = move->order[i] - (move->order[i] > axis);
    }
    move->axis_count--;
    memmove(&move->axes[axis], &move->axes[axis + 1],
            (move->axis_count - axis) * sizeof(move->axes[0]));
}

static void drop_ones(struct move *move)
{
    for (uint32_t d = move->axis_count; d-- > 0;) {
        if (move->axis_count > MLI_MAX_RANK && move->axes[d].extent == 1 &&
            move_axis_is_whole(&move->axes[d]))
            remove_axis(move, d);
    }
}

/* Returns whether axes d and d + 1 are one dimension in the source and in the result. */
static bool is_mergeable(const struct move *move, uint32_t d)
{
    const struct move_axis *outer = &move->axes[d], *inner = &move->axes[d + 1];
    uint32_t at = 0;

    while (move->order[at] != d)
        at++;
    return at + 1 < move->axis_count && move->order[at + 1] == d + 1 && move_axis_is_whole(inner) &&
           outer->step == 1 && outer->src_stride == inner->src_stride * inner->extent &&
           outer->dst_stride == inner->dst_stride * inner->dst_extent;
}

static void merge(struct move *move, uint32_t d)
{
    const struct move_axis outer = move->axes[d];
    struct move_axis *inner = &move->axes[d + 1];
    const uint64_t n = inner->extent;

    inner->extent = outer.extent * n;
    inner->pre = outer.pre * n;
    inner->post = outer.post * n;
    inner->offset = outer.offset * n;
    inner->count = outer.count * n;
    inner->dst_extent = outer.dst_extent * n;
    inner->at = outer.at * n;
    remove_axis(move, d);
}

/* Adds the parts of an element as the last dimension. */
static void split_elements(struct move *move, uint32_t parts)
{
    move->src_base *= parts;
    move->dst_base *= parts;
    for (uint32_t d = 0; d < move->axis_count; d++) {
        move->axes[d].src_stride *= parts;
        move->axes[d].dst_stride *= parts;
    }
    move->axes[move->axis_count] = (struct move_axis){.extent = parts,
                                                      .src_stride = 1,
                                                      .count = parts,
                                                      .step = 1,
                                                      .dst_extent = parts,
                                                      .dst_stride = 1};
    move->order[move->axis_count] = move->axis_count;
    move->axis_count++;
    if (move->axis_count > 1 && is_mergeable(move, move->axis_count - 2))
        merge(move, move->axis_count - 2); /* the .npy file has a longer last dimension, too */
}

static void merge_axes(struct move *move)
{
    for (uint32_t d = move->axis_count; d-- > 0;) {
        if (move->axis_count > MLI_MAX_RANK && d + 1 < move->axis_count && is_mergeable(move, d))
            merge(move, d);
    }
}

/*
 * Narrows the window to the elements of the source: the result has the zeros or the fill of the
 * border already. Returns false if the window has no element of the source.
 */
static bool remove_border(struct move_axis *axis)
{
    uint64_t first = 0, end = axis->count;

    /* Element k of the window is offset + k * step elements after the beginning of the border. */
    if (axis->offset < axis->pre)
        first = (axis->pre - axis->offset + axis->step - 1) / axis->step;
    if (axis->offset + (axis->count - 1) * axis->step >= axis->pre + axis->extent)
        end = axis->offset >= axis->pre + axis->extent
                  ? 0
                  : (axis->pre + axis->extent - axis->offset + axis->step - 1) / axis->step;
    if (first >= end)
        return false;
    axis->offset = axis->offset + first * axis->step - axis->pre;
    axis->at += first;
    axis->count = end - first;
    axis->pre = axis->post = 0;
    return true;
}

/* Returns whether the border is too wide for libmli. */
static bool is_wide(const struct move_axis *axis)
{
    return axis->pre > MOVE_BORDER_MAX || axis->post > MOVE_BORDER_MAX;
}

/* Returns the axis with the fewest elements. */
static uint32_t shortest(const struct move *move)
{
    uint32_t found = 0;

    for (uint32_t d = 1; d < move->axis_count; d++) {
        if (move->axes[d].count < move->axes[found].count)
            found = d;
    }
    return found;
}

static bool fits(const struct move *move)
{
    for (uint32_t d = 0; d < move->axis_count; d++) {
        const struct move_axis *axis = &move->axes[d];

        if (axis->extent > UINT32_MAX || axis->dst_extent > UINT32_MAX ||
            axis->src_stride > INT32_MAX || axis->dst_stride > INT32_MAX ||
            axis->offset > UINT32_MAX || axis->step > UINT32_MAX || axis->at > UINT32_MAX ||
            (axis->count - 1) * axis->step + 1 > UINT32_MAX)
            return false;
    }
    return true;
}

/* Adds the move to `folded`; a move with too many axes becomes several moves. */
static int add_folded(struct moves *folded, struct move *move)
{
    struct move each;
    uint32_t axis;

    for (uint32_t d = 0; d < move->axis_count; d++) {
        if ((is_wide(&move->axes[d]) || folded->filled) && !remove_border(&move->axes[d]))
            return 0;
    }
    if (move->axis_count <= MLI_MAX_RANK) {
        folded->too_wide = folded->too_wide || !fits(move);
        return folded->too_wide ? -1 : moves_add(folded, move);
    }
    axis = shortest(move);
    if (!remove_border(&move->axes[axis]))
        return 0;
    each = *move;
    remove_axis(&each, axis);
    const struct move_axis *loop = &move->axes[axis];
    for (uint64_t k = 0; k < loop->count; k++) {
        struct move part = each;

        part.src_base += (loop->offset + k * loop->step) * loop->src_stride;
        part.dst_base += (loop->at + k) * loop->dst_stride;
        if (add_folded(folded, &part))
            return -1;
    }
    return 0;
}

int moves_fold(struct moves *moves)
{
    struct moves folded = {.unit = moves->unit, .filled = moves->filled};
    int result = 0;

    for (size_t i = 0; i < moves->count && result == 0; i++) {
        struct move *move = &moves->items[i];

        if (moves->unit == 8)
            split_elements(move, 2);
        drop_ones(move);
        merge_axes(move);
        result = add_folded(&folded, move);
    }
    if (folded.unit == 8)
        folded.unit = 4;
    moves_finish(moves);
    *moves = folded;
    return result;
}
