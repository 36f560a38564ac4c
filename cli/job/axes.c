/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/axes.h"

#include <string.h>

bool move_axis_is_whole(const struct move_axis *axis)
{
    return axis->pre == 0 && axis->post == 0 && axis->offset == 0 && axis->at == 0 &&
           axis->step == 1 && axis->count == axis->extent && axis->count == axis->dst_extent;
}

void move_sort(struct move *move)
{
    for (uint32_t i = 1; i < move->axis_count; i++) {
        for (uint32_t d = i; d > 0 && move->axes[d - 1].src_stride < move->axes[d].src_stride;
             d--) {
            const struct move_axis axis = move->axes[d];

            move->axes[d] = move->axes[d - 1];
            move->axes[d - 1] = axis;
            for (uint32_t k = 0; k < move->axis_count; k++) {
                if (move->order[k] == d || move->order[k] == d - 1)
                    move->order[k] ^= d ^ (d - 1);
            }
        }
    }
}

void move_remove_axis(struct move *move, uint32_t axis)
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

/* Leaves out axes with one element in the window and in the result. */
static void drop_ones(struct move *move)
{
    for (uint32_t d = move->axis_count; d-- > 0;) {
        const struct move_axis *axis = &move->axes[d];

        if (move->axis_count <= MLI_MAX_RANK || axis->count > 1 || axis->dst_extent > 1 ||
            axis->pre > 0 || axis->post > 0)
            continue;
        move->src_base += axis->offset * axis->src_stride;
        move_remove_axis(move, d);
    }
}

bool move_is_mergeable(const struct move *move, uint32_t d)
{
    const struct move_axis *outer = &move->axes[d], *inner = &move->axes[d + 1];
    uint32_t at = 0;

    while (move->order[at] != d)
        at++;
    return at + 1 < move->axis_count && move->order[at + 1] == d + 1 && move_axis_is_whole(inner) &&
           outer->step == 1 &&
           (outer->extent == 1 || outer->src_stride == inner->src_stride * inner->extent) &&
           outer->dst_stride == inner->dst_stride * inner->dst_extent;
}

void move_merge(struct move *move, uint32_t d)
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
    inner->dimensions |= outer.dimensions;
    move_remove_axis(move, d);
}

void move_split(struct move *move, uint32_t parts)
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
}

/* Returns whether cfg can hold the border of an axis if each element becomes `parts` elements. */
static bool is_narrow(const struct move_axis *axis, uint64_t parts)
{
    return axis->pre <= MOVE_BORDER_MAX / parts && axis->post <= MOVE_BORDER_MAX / parts;
}

/* Merges neighbouring axes until libmli can have them all. `wide`: also if the border becomes too
 * wide for libmli. */
static void merge_axes(struct move *move, bool wide)
{
    for (uint32_t d = move->axis_count; d-- > 0;) {
        if (move->axis_count > MLI_MAX_RANK && d + 1 < move->axis_count &&
            move_is_mergeable(move, d) &&
            (wide || is_narrow(&move->axes[d], move->axes[d + 1].extent)))
            move_merge(move, d);
    }
}

void move_reduce(struct move *move)
{
    drop_ones(move);
    merge_axes(move, false);
    merge_axes(move, true);
}

bool move_fits(const struct move *move)
{
    for (uint32_t d = 0; d < move->axis_count; d++) {
        const struct move_axis *axis = &move->axes[d];

        if (axis->pre > MOVE_BORDER_MAX || axis->post > MOVE_BORDER_MAX ||
            axis->extent > UINT32_MAX || axis->dst_extent > UINT32_MAX ||
            axis->src_stride > INT32_MAX || axis->dst_stride > INT32_MAX ||
            axis->offset > UINT32_MAX || axis->step > UINT32_MAX || axis->at > UINT32_MAX ||
            (axis->count - 1) * axis->step + 1 > UINT32_MAX)
            return false;
    }
    return true;
}

void move_to_cfg(const struct move *move, mli_mov_cfg_t *cfg)
{
    for (uint32_t d = 0; d < move->axis_count; d++) {
        const struct move_axis *axis = &move->axes[d];
        const uint64_t padded = axis->pre + axis->extent + axis->post;
        const uint64_t size = (axis->count - 1) * axis->step + 1;

        cfg->padding_pre[d] = (uint8_t)axis->pre;
        cfg->padding_post[d] = (uint8_t)axis->post;
        cfg->offset[d] = (uint32_t)axis->offset;
        cfg->sub_sample_step[d] = (uint32_t)axis->step;
        /* A size of 0 in cfg selects all samples up to the end of the border. */
        if ((padded - axis->offset - 1) / axis->step + 1 != axis->count)
            cfg->size[d] = (uint32_t)size;
        cfg->perm_dim[d] = (uint8_t)move->order[d];
    }
}
