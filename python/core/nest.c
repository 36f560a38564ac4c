/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/nest.h"

static const int64_t SPAN_MAX = UINT32_MAX; /* limit of mli_data_container.capacity */
static const int64_t STEP_MAX = INT32_MAX;  /* limit of mli_tensor.mem_stride, in elements */

static bool has_zeros(const struct axis *axis)
{
    return axis->before > 0 || axis->after > 0;
}

/* Folding */

/* Sorts by destination steps, the largest first. Stable, for axes of extent 1. */
static void sort(struct axis *axis, uint32_t rank)
{
    for (uint32_t i = 1; i < rank; i++) {
        const struct axis moved = axis[i];
        uint32_t at = i;

        for (; at > 0 && axis[at - 1].dst_step < moved.dst_step; at--)
            axis[at] = axis[at - 1];
        axis[at] = moved;
    }
}

/* Returns whether an outer and an inner axis step through memory like one axis. */
static bool is_one_axis(const struct axis *outer, const struct axis *inner)
{
    if (has_zeros(inner) || outer->dst_step != inner->dst_step * inner->samples)
        return false;
    if (outer->samples > 1 && outer->src_step != inner->src_step * inner->samples)
        return false;
    return outer->before * inner->samples <= NEST_ZEROS_MAX &&
           outer->after * inner->samples <= NEST_ZEROS_MAX;
}

/* Removes axes that have one sample, and merges neighbouring axes. Returns the new rank, at least
 * 1. */
static uint32_t merge(struct axis *axis, uint32_t rank)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < rank; i++) {
        if (axis_extent(&axis[i]) == 1 && axis[i].samples == 1)
            continue;
        if (kept > 0 && is_one_axis(&axis[kept - 1], &axis[i])) {
            const int64_t inner = axis[i].samples;
            const struct axis *outer = &axis[kept - 1];

            axis[kept - 1] =
                (struct axis){outer->before * inner, outer->samples * inner, outer->after * inner,
                              axis[i].src_step, axis[i].dst_step};
            continue;
        }
        axis[kept++] = axis[i];
    }
    if (kept == 0)
        axis[kept++] = (struct axis){0, 1, 0, 0, 0};
    return kept;
}

/* Returns the largest element size that divides the element and all steps. */
static uint32_t find_unit(size_t size, const struct axis *axis, uint32_t rank)
{
    uint64_t all = size;

    for (uint32_t i = 0; i < rank; i++) {
        if (axis_extent(&axis[i]) > 1)
            all |= (uint64_t)axis[i].src_step | (uint64_t)axis[i].dst_step;
    }
    return all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

/* Loops over the axes with the fewest elements, so that a tensor has dimensions for the others. */
static void loop_excess(struct nest *nest)
{
    uint32_t inside = 0;

    for (uint32_t i = 0; i < nest->rank; i++)
        inside += !nest->looped[i];
    for (; inside > MLI_MAX_RANK; inside--) {
        uint32_t best = nest->rank;

        for (uint32_t i = 0; i < nest->rank; i++) {
            if (!nest->looped[i] && (best == nest->rank ||
                                     axis_extent(&nest->axis[i]) < axis_extent(&nest->axis[best])))
                best = i;
        }
        nest->looped[best] = true;
        nest->longest[best] = 1;
    }
}

/* Loops over axes that repeat a sample, or whose steps libmli cannot express. */
static void loop_steps(struct nest *nest)
{
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct axis *axis = &nest->axis[i];

        if (axis_extent(axis) > 1 &&
            ((axis->samples > 1 &&
              (axis->src_step == 0 || axis->src_step / nest->unit > STEP_MAX)) ||
             axis->dst_step == 0 || axis->dst_step / nest->unit > STEP_MAX)) {
            nest->looped[i] = true;
            nest->longest[i] = 1;
        }
    }
}

/* Shortens segments until libmli can express the bytes that a move spans. */
static void limit_spans(struct nest *nest)
{
    for (;;) {
        int64_t src_span = nest->unit, dst_span = nest->unit, widest = 0;
        uint32_t at = 0;

        for (uint32_t i = 0; i < nest->rank; i++) {
            const struct axis *axis = &nest->axis[i];
            const int64_t n = least(nest->longest[i], axis_extent(axis));
            const int64_t src = (least(n, axis->samples) - (axis->samples > 0)) * axis->src_step;
            const int64_t dst = (n - 1) * axis->dst_step;

            src_span += src;
            dst_span += dst;
            if (src > widest || dst > widest) {
                widest = src > dst ? src : dst;
                at = i;
            }
        }
        if (src_span <= SPAN_MAX && dst_span <= SPAN_MAX)
            return;
        nest->longest[at] = (least(nest->longest[at], axis_extent(&nest->axis[at])) + 1) / 2;
    }
}

/* Returns whether an axis repeats one sample. */
static bool repeats_sample(const struct axis *axis)
{
    return axis->samples > 1 && axis->src_step == 0 && axis->dst_step > 0 && !has_zeros(axis);
}

/* Adds a repeated axis to a nest, sorted by steps, the smallest first. */
static void add_repeat(struct nest *nest, const struct axis *axis)
{
    uint32_t at = nest->repeats++;

    for (; at > 0 && nest->repeat[at - 1].dst_step > axis->dst_step; at--)
        nest->repeat[at] = nest->repeat[at - 1];
    nest->repeat[at] = (struct repeat){axis->samples, axis->dst_step};
}

void nest_fold(struct nest *nest, const uint8_t *src, uint8_t *dst, size_t size,
               const struct axis *axis, uint32_t rank)
{
    uint32_t kept = 0;

    nest->src = src;
    nest->dst = dst;
    nest->unit = find_unit(size, axis, rank);
    nest->repeats = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (repeats_sample(&axis[i]))
            add_repeat(nest, &axis[i]);
        else
            nest->axis[kept++] = axis[i];
    }
    if (size > nest->unit)
        nest->axis[kept++] =
            (struct axis){0, (int64_t)(size / nest->unit), 0, nest->unit, nest->unit};
    sort(nest->axis, kept);
    nest->rank = merge(nest->axis, kept);
    for (uint32_t i = 0; i < nest->rank; i++) {
        nest->longest[i] = INT64_MAX;
        nest->looped[i] = false;
    }
    loop_steps(nest);
    loop_excess(nest);
    limit_spans(nest);
}

/* Interference */

/* Returns the number of bytes from the first to the last byte of the source. */
static int64_t span_of_src(const struct nest *nest)
{
    int64_t span = nest->unit;

    for (uint32_t i = 0; i < nest->rank; i++) {
        if (nest->axis[i].samples > 0)
            span += (nest->axis[i].samples - 1) * nest->axis[i].src_step;
    }
    return span;
}

static bool reads(const struct nest *nest)
{
    for (uint32_t i = 0; i < nest->rank; i++) {
        if (nest->axis[i].samples == 0)
            return false;
    }
    return true;
}

static struct axis axis_of_result(int64_t extent, int64_t step)
{
    return (struct axis){0, extent, 0, step, step};
}

uint32_t nest_result_axes(const struct nest *nest, uint32_t repeats,
                          struct axis axis[NEST_AXES_MAX])
{
    uint32_t rank = 0;

    for (uint32_t i = 0; i < nest->rank; i++) {
        if (axis_extent(&nest->axis[i]) > 1)
            axis[rank++] = axis_of_result(axis_extent(&nest->axis[i]), nest->axis[i].dst_step);
    }
    for (uint32_t i = 0; i < repeats; i++)
        axis[rank++] = axis_of_result(nest->repeat[i].count, nest->repeat[i].dst_step);
    return rank;
}

bool nest_is_disjoint(const struct nest *nest)
{
    int64_t inner = nest->unit; /* bytes that the inner axes span */
    struct axis axis[NEST_AXES_MAX];
    const uint32_t rank = nest_result_axes(nest, nest->repeats, axis);

    sort(axis, rank);
    for (uint32_t i = rank; i-- > 0;) {
        if (axis[i].dst_step < inner)
            return false;
        inner += (axis[i].samples - 1) * axis[i].dst_step;
    }
    return !reads(nest) || nest->src + span_of_src(nest) <= nest->dst ||
           nest->dst + inner <= nest->src;
}
