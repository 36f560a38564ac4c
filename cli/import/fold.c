/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts moves of any rank to moves of libmli: at most 4 dimensions, elements of 1, 2 or 4
 * bytes, borders of at most 255 elements. The steps: elements of 8 bytes become two elements of 4
 * bytes; axes of extent 1 are left out; neighbouring axes that are one dimension in the source and
 * in the result are merged; the axis with the fewest elements becomes a loop of moves.
 */
#include "cli/import/move.h"

/* The .npy file has a longer last dimension, too, if the halves can be one with it. */
static void halve(struct move *move)
{
    move_split(move, 2);
    if (move->axis_count > 1 && move_is_mergeable(move, move->axis_count - 2))
        move_merge(move, move->axis_count - 2);
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

/* Adds the move to `folded`; a move with too many axes becomes several moves. */
static int add_folded(struct moves *folded, struct move *move)
{
    struct move each;
    uint32_t axis;

    for (uint32_t d = 0; d < move->axis_count; d++) {
        if ((move->axes[d].pre > MOVE_BORDER_MAX || move->axes[d].post > MOVE_BORDER_MAX ||
             folded->filled) &&
            !remove_border(&move->axes[d]))
            return 0;
    }
    if (move->axis_count <= MLI_MAX_RANK) {
        folded->too_wide = folded->too_wide || !move_fits(move);
        return folded->too_wide ? -1 : moves_add(folded, move);
    }
    axis = shortest(move);
    if (!remove_border(&move->axes[axis]))
        return 0;
    each = *move;
    move_remove_axis(&each, axis);
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
            halve(move);
        move_reduce(move);
        result = add_folded(&folded, move);
    }
    if (folded.unit == 8)
        folded.unit = 4;
    moves_finish(moves);
    *moves = folded;
    return result;
}
